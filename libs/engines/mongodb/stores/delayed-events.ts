import { type Collection, type Db } from 'mongodb';
import {
  type DelayedEvent,
  type DelayedEvents,
  type DelayedKey,
  type DelayedPage,
  type DelayedRange,
  delayedSort,
  type DelayedUsage,
} from '#libs/stream-log/delayed-events.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { repeated } from '../repeated.js';

interface DelayedDocument {
  /** `<source>/<sortable event id>` */
  readonly _id: string;
  readonly source: string;
  /** UTF-8 bytes of `payload`. */
  readonly bytes: number;
  /** JSON text of the event without its payload. */
  readonly event: string;
  readonly payload: string;
}

/** DelayedEvents in MongoDB. The id carries source and event id, so lists and ranges read the index of ids. */
export class MongoDelayedEvents implements DelayedEvents {
  private readonly delayed: Collection<DelayedDocument>;

  constructor(db: Db) {
    this.delayed = db.collection<DelayedDocument>('delayed', DURABLE);
  }

  /** Idempotent. Call it before the first use. */
  async ensureIndexes(): Promise<void> {
    await ensureIndexes(this.delayed, [{ name: 'source_bytes', key: { source: 1, bytes: 1 } }]);
  }

  async put(events: readonly DelayedEvent[]): Promise<void> {
    if (events.length === 0) return;
    const writes = events.map(({ payload, ...event }) => {
      const bytes = Buffer.byteLength(payload);
      const replacement = { source: event.sourceId, bytes, event: JSON.stringify(event), payload };
      return { replaceOne: { filter: { _id: keyOf(event) }, replacement, upsert: true } };
    });
    await repeated(() => this.delayed.bulkWrite(writes));
  }

  async find(sourceId: string, eventId: string): Promise<DelayedEvent | undefined> {
    const found = await this.delayed.findOne({ _id: keyOf({ sourceId, eventId }) });
    return found ? eventOf(found) : undefined;
  }

  async remove(events: readonly DelayedKey[]): Promise<void> {
    if (events.length > 0) await repeated(() => this.delayed.deleteMany({ _id: { $in: events.map(keyOf) } }));
  }

  async removeRange(sourceId: string, range: DelayedRange): Promise<readonly string[]> {
    const filter = { _id: inRange(sourceId, range) };
    const found = await this.delayed.find(filter, { projection: { _id: 1 } }).toArray();
    await repeated(() => this.delayed.deleteMany(filter));
    return found.map(({ _id }) => _id.slice(sourceId.length + 1));
  }

  async page(
    sourceId: string,
    { limit, after, before }: { limit: number; after?: string; before?: string },
  ): Promise<DelayedPage> {
    const upwards = before !== undefined && after === undefined;
    const found = await this.delayed
      .find({ _id: { $gt: `${sourceId}/${before ?? FIRST}`, $lt: `${sourceId}/${after ?? LAST}` } })
      .sort({ _id: upwards ? 1 : -1 })
      .limit(limit)
      .toArray();
    const events = (upwards ? found.reverse() : found).map(eventOf);
    return { events, total: await this.delayed.countDocuments({ source: sourceId }) };
  }

  async anyIn(sourceId: string, range: DelayedRange): Promise<boolean> {
    return (await this.delayed.findOne({ _id: inRange(sourceId, range) }, { projection: { _id: 1 } })) !== null;
  }

  async usage(sourceId: string): Promise<DelayedUsage> {
    // Two queries, because FerretDB returns 0 for the second sum of one group.
    const [count, [sum]] = await Promise.all([
      this.delayed.countDocuments({ source: sourceId }),
      this.delayed
        .aggregate<{ bytes: number }>([
          { $match: { source: sourceId } },
          { $group: { _id: null, bytes: { $sum: '$bytes' } } },
        ])
        .toArray(),
    ]);
    return { count, bytes: sum?.bytes ?? 0 };
  }

  async *all(): AsyncIterable<DelayedEvent> {
    for await (const document of documentsById(this.delayed)) yield eventOf(document);
  }
}

/** Event ids, as sortable text, below and above all real ones. */
const FIRST = '';
const LAST = '~';

const keyOf = ({ sourceId, eventId }: DelayedKey): string => `${sourceId}/${delayedSort(eventId)}`;

const inRange = (sourceId: string, { from = FIRST, to = LAST }: DelayedRange): { $gte: string; $lte: string } => ({
  $gte: `${sourceId}/${from}`,
  $lte: `${sourceId}/${to}`,
});

const eventOf = ({ event, payload }: DelayedDocument): DelayedEvent => ({
  ...(JSON.parse(event) as Omit<DelayedEvent, 'payload'>),
  payload,
});
