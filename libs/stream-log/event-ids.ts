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
