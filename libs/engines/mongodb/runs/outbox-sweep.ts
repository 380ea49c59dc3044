import { type Collection } from 'mongodb';
import { type Clock } from '#libs/kernel/clock.js';
import { type RunDocument } from './run-document.js';

/** After this time with the same mark, an outbox has no active owner, or the log cannot be reached. */
export const STALE_MS = 10_000;

/**
 * Finds abandoned outboxes. Their age is measured here from look to look, without comparing clocks of machines. Only
 * states with something in the outbox have a mark, so a look reads only a few.
 */
export class StaleOutboxes {
  private seen = new Map<string, { readonly mark: string; readonly since: number }>();

  constructor(
    private readonly documents: Collection<RunDocument>,
    private readonly clock: Clock,
    private readonly newId: () => string,
  ) {}

  /** Claims abandoned states and yields their names. `isRelayed` tells whether this process already publishes one. */
  async *claim(isRelayed: (name: string) => boolean): AsyncIterable<string> {
    const now = this.clock.now();
    const found = new Map<string, { readonly mark: string; readonly since: number }>();
    const cursor = this.documents.find({ outboxMark: { $gt: '' } }, { projection: { outboxMark: 1 } });
    for await (const { _id, outboxMark: mark = '' } of cursor) {
      const before = this.seen.get(_id);
      found.set(_id, before?.mark === mark ? before : { mark, since: now });
    }
    this.seen = found;
    for (const [name, { mark, since }] of found) {
      if (now - since < STALE_MS || isRelayed(name)) continue;
      // Several processes may find it. The one that changes the mark takes over, and another follows if that one dies.
      const claimed = await this.documents.updateOne(
        { _id: name, outboxMark: mark },
        { $set: { outboxMark: this.newId() } },
      );
      if (claimed.matchedCount === 1) yield name;
    }
  }
}
