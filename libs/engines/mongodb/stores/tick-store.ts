import { type Collection, type Db } from 'mongodb';
import { type TickStore } from '#libs/scheduling/tick-store.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';
import { repeated } from '../repeated.js';

interface TickDocument {
  readonly _id: string;
  readonly at: number;
}

/** TickStore in MongoDB with a document per timer. `$max` lets the later time win. */
export class MongoTickStore implements TickStore {
  private readonly ticks: Collection<TickDocument>;

  constructor(db: Db) {
    this.ticks = db.collection<TickDocument>('ticks', DURABLE);
  }

  async load(): Promise<ReadonlyMap<string, number>> {
    const ticks = new Map<string, number>();
    for await (const { _id, at } of documentsById(this.ticks)) ticks.set(_id, at);
    return ticks;
  }

  async save(ticks: ReadonlyMap<string, number>): Promise<void> {
    if (ticks.size === 0) return;
    const writes = [...ticks].map(([_id, at]) => ({
      updateOne: { filter: { _id }, update: { $max: { at } }, upsert: true },
    }));
    await repeated(() => this.ticks.bulkWrite(writes, { ordered: false }));
  }

  async drop(sourceId: string): Promise<void> {
    // All ids that start with `<source>/`. `0` is the character after `/`.
    await repeated(() => this.ticks.deleteMany({ _id: { $gte: `${sourceId}/`, $lt: `${sourceId}0` } }));
  }
}
