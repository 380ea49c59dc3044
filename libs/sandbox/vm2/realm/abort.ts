import { Event, EventTarget } from './event-target.js';
import { setTimeout } from './timers.js';

const errorNamed = (name: string, message: string): Error => Object.assign(new Error(message), { name });

export class AbortSignal extends EventTarget {
  aborted = false;
  reason: unknown = undefined;
  onabort: ((event: Event) => void) | null = null;
  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }
  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal();
    abort(signal, reason);
    return signal;
  }
  static timeout(ms: number): AbortSignal {
    const signal = new AbortSignal();
    setTimeout(() => abort(signal, errorNamed('TimeoutError', 'The operation was aborted due to timeout')), ms);
    return signal;
  }
  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const all = [...signals];
    const result = new AbortSignal();
    const first = all.find(({ aborted }) => aborted);
    if (first) abort(result, first.reason);
    else for (const one of all) one.addEventListener('abort', () => abort(result, one.reason), { once: true });
    return result;
  }
}

const abort = (signal: AbortSignal, reason: unknown): void => {
  if (signal.aborted) return;
  signal.aborted = true;
  signal.reason = reason === undefined ? errorNamed('AbortError', 'This operation was aborted') : reason;
  const event = new Event('abort');
  signal.onabort?.(event);
  signal.dispatchEvent(event);
};

export class AbortController {
  readonly signal = new AbortSignal();
  abort(reason?: unknown): void {
    abort(this.signal, reason);
  }
}
