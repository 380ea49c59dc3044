const EVENT_ID = /^(\d{1,15})-(\d{1,10})$/;

/** Pads an event id `<epoch ms>-<seq>` so that text order is emission order. Returns undefined for any other text. */
export const sortableEventId = (id: string): string | undefined => {
  const [, ms, seq] = EVENT_ID.exec(id) ?? [];
  return ms === undefined || seq === undefined ? undefined : `${ms.padStart(15, '0')}-${seq.padStart(10, '0')}`;
};

/** Makes event ids `<epoch ms>-<seq>` that strictly increase per emitter, even when the clock goes back. */
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
