type Listener = ((event: Event) => void) | { handleEvent(event: Event): void };

export class Event {
  target: unknown = null;
  defaultPrevented = false;
  constructor(readonly type: string) {}
  preventDefault(): void {
    this.defaultPrevented = true;
  }
}

export class EventTarget {
  private readonly listeners = new Map<string, Map<Listener, boolean>>();
  addEventListener(type: string, listener: Listener, options?: boolean | { once?: boolean }): void {
    const ofType = this.listeners.get(type) ?? new Map<Listener, boolean>();
    this.listeners.set(type, ofType.set(listener, typeof options === 'object' && options.once === true));
  }
  removeEventListener(type: string, listener: Listener): void {
    this.listeners.get(type)?.delete(listener);
  }
  dispatchEvent(event: Event): boolean {
    event.target = this;
    for (const [listener, once] of [...(this.listeners.get(event.type) ?? [])]) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === 'function') listener.call(this, event);
      else listener.handleEvent(event);
    }
    return !event.defaultPrevented;
  }
}
