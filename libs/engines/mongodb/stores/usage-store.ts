import { type Collection, type Db } from 'mongodb';
import { type CountedMinute, type DailyUsage, KEPT_MINUTES, type UsageStore } from '#libs/tenancy/published.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';

interface UsageDocument extends DailyUsage {
  /** `<day>/<workspace>` */
  readonly _id: string;
}

interface MinuteDocument extends CountedMinute {
  /** `<minute>/<workspace>` */
  readonly _id: string;
}

/** UsageStore in MongoDB with a document per day and workspace, and one per minute, to which every process adds. */
export class MongoUsageStore implements UsageStore {
  private readonly usage: Collection<UsageDocument>;
  private readonly minutes: Collection<MinuteDocument>;
  /** Newest minute at which this process removed old ones. */
  private cleared = 0;

  constructor(db: Db) {
    this.usage = db.collection<UsageDocument>('usage', DURABLE);
    this.minutes = db.collection<MinuteDocument>('usage_minutes', DURABLE);
  }

  /** Idempotent. Call it before the first use. */
  async ensureIndexes(): Promise<void> {
    await ensureIndexes(this.minutes, [
      { name: 'workspace', key: { workspaceId: 1, minute: 1 } },
      { name: 'minute', key: { minute: 1 } },
    ]);
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

  async addMinutes(counted: readonly CountedMinute[]): Promise<void> {
    if (counted.length === 0) return;
    const newest = counted.reduce((latest, { minute }) => Math.max(latest, minute), 0);
    if (newest > this.cleared) {
      // Before the counts, so that a failure leaves none of them to be added twice.
      await this.minutes.deleteMany({ minute: { $lt: newest - KEPT_MINUTES } });
      this.cleared = newest;
    }
    const writes = counted.map(({ minute, workspaceId, ...counts }) => ({
      updateOne: {
        filter: { _id: `${minute}/${workspaceId}` },
        update: { $inc: counts, $setOnInsert: { minute, workspaceId } },
        upsert: true,
      },
    }));
    await this.minutes.bulkWrite(writes, { ordered: false });
  }

  async minutesOf(workspaceId: string, from: number): Promise<readonly CountedMinute[]> {
    return this.minutes
      .find({ workspaceId, minute: { $gte: from } })
      .project<CountedMinute>({ _id: 0 })
      .sort({ minute: 1 })
      .toArray();
  }
}
