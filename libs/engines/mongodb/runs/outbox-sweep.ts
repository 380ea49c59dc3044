import { type Collection } from 'mongodb';
import { type Clock } from '#libs/kernel/clock.js';
import { type RunDocument } from './run-document.js';

/** An outbox whose mark did not change for this long has nobody who works on it, or a log that cannot be reached. */
export const STALE_MS = 10_000;

/**
 * Outboxes that were left. How long one did not change is measured here, from look to look: no clock of another
 * machine is compared with. Only sources that have something in their outbox have a mark, so a look reads a few.
 */
export class StaleOutboxes {
  private seen = new Map<string, { readonly mark: string; readonly since: number }>();

  constructor(
    private readonly documents: Collection<RunDocument>,
    private readonly clock: Clock,
    private readonly newId: () => string,
  ) {}

  /** Ids of sources that this process is the one to take up. `isRelayed`: it does so already. */
  async *claim(isRelayed: (sourceId: string) => boolean): AsyncIterable<string> {
    const now = this.clock.now();
    const found = new Map<string, { readonly mark: string; readonly since: number }>();
    const cursor = this.documents.find({ outboxMark: { $gt: '' } }, { projection: { outboxMark: 1 } });
    for await (const { _id, outboxMark: mark = '' } of cursor) {
      const before = this.seen.get(_id);
      found.set(_id, before?.mark === mark ? before : { mark, since: now });
    }
    this.seen = found;
    for (const [sourceId, { mark, since }] of found) {
      if (now - since < STALE_MS || isRelayed(sourceId)) continue;
      // Of several processes that find it, the one that changes the mark takes it up; should it die, the next does.
      const claimed = await this.documents.updateOne(
        { _id: sourceId, outboxMark: mark },
        { $set: { outboxMark: this.newId() } },
      );
      if (claimed.matchedCount === 1) yield sourceId;
    }
  }
}
