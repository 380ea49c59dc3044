import { type Collection, type Db } from 'mongodb';
import { type DailyUsage, type UsageStore } from '#libs/tenancy/published.js';
import { DURABLE } from '../durable.js';

interface UsageDocument extends DailyUsage {
  /** `<day>/<workspace>` */
  readonly _id: string;
}

/** UsageStore in MongoDB with a document per day and workspace, to which every process adds. */
export class MongoUsageStore implements UsageStore {
  private readonly usage: Collection<UsageDocument>;

  constructor(db: Db) {
    this.usage = db.collection<UsageDocument>('usage', DURABLE);
  }

  async add(day: number, used: ReadonlyMap<string, DailyUsage>): Promise<void> {
    if (used.size === 0) return;
    const writes = [...used].map(([workspaceId, { invocations, computeMs, credits }]) => ({
      updateOne: {
        filter: { _id: `${day}/${workspaceId}` },
        update: { $inc: { invocations, computeMs, credits } },
        upsert: true,
      },
    }));
    await this.usage.bulkWrite(writes, { ordered: false });
  }

  async of(day: number, workspaceId: string): Promise<DailyUsage> {
    const found = await this.usage.findOne({ _id: `${day}/${workspaceId}` });
    return {
      invocations: found?.invocations ?? 0,
      computeMs: found?.computeMs ?? 0,
      credits: found?.credits ?? 0,
    };
  }
}
