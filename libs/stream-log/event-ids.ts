const EVENT_ID = /^(\d{1,15})-(\d{1,10})$/;

/** Pads an event id `<epoch ms>-<seq>` so that text order is emission order. Returns undefined for any other text. */
export const sortableEventId = (id: string): string | undefined => {
  const [, ms, seq] = EVENT_ID.exec(id) ?? [];
  return ms === undefined || seq === undefined ? undefined : `${ms.padStart(15, '0')}-${seq.padStart(10, '0')}`;
};

/** First sequence number of the router's error events, higher than a runner assigns within one millisecond. */
export const ROUTER_SEQUENCE = 1_000_000;

/** Sortable form of an id that a source's runner assigned, which is the order of its lane. Undefined for other ids. */
export const orderedEventId = (id: string): string | undefined =>
  Number(id.slice(id.indexOf('-') + 1)) < ROUTER_SEQUENCE ? sortableEventId(id) : undefined;

/** Makes event ids `<epoch ms>-<seq>` that strictly increase per emitter, even when the clock is set back. */
export class EventIds {
  private ms: number;
  private seq: number;

  constructor(lastEventId: string) {
    const [ms, seq] = lastEventId.split('-').map(Number);
    this.ms = ms || 0;
    this.seq = seq ?? 0;
  }

  next(now: number): string {
    if (now > this.ms) {
      this.ms = now;
      this.seq = 0;
    } else this.seq++;
    return this.last();
  }

  last(): string {
    return this.ms === 0 ? '' : `${this.ms}-${this.seq}`;
  }
}
