import { type Collection, type Db } from 'mongodb';
import { EXPIRY_MS, SILENCE_MS, type ProcessRegistry, type ProcessReport } from '#libs/kernel/process-registry.js';

interface ProcessDoc extends Omit<ProcessReport, 'id'> {
  readonly _id: string;
  /** Grows by one with each report. */
  readonly beat: number;
}

/** A report or read that takes longer is abandoned. The next one follows soon. */
const WITHIN = { timeoutMS: 2_000 } as const;

/**
 * A document per process. Each reader measures silence with its own clock, from the last change that it saw. A document
 * seen for the first time counts as live for that long.
 */
export class MongoProcessRegistry implements ProcessRegistry {
  private readonly documents: Collection<ProcessDoc>;
  private readonly seen = new Map<string, { readonly beat: number; readonly at: number }>();

  constructor(
    db: Db,
    /** Monotonic, in ms. */
    private readonly now: () => number = () => performance.now(),
  ) {
    // Reports repeat every second, so a report that a fail-over rolls back is soon replaced.
    this.documents = db.collection<ProcessDoc>('processes', { writeConcern: { w: 1 } });
  }

  async report({ id, role, position, backlog, pressure, uptimeMs }: ProcessReport): Promise<void> {
    await this.documents.updateOne(
      { _id: id },
      {
        $set: { role, position, backlog, uptimeMs, ...(pressure && { pressure }) },
        ...(!pressure && { $unset: { pressure: '' } }),
        $inc: { beat: 1 },
      },
      { ...WITHIN, upsert: true },
    );
  }

  async live(): Promise<readonly ProcessReport[]> {
    const stored = await this.documents.find({}, WITHIN).toArray();
    const now = this.now();
    const live: ProcessReport[] = [];
    const dead: ProcessDoc[] = [];
    const ids = new Set<string>();
    for (const document of stored) {
      const { _id: id, beat, role, position, backlog, pressure, uptimeMs } = document;
      ids.add(id);
      const last = this.seen.get(id);
      const at = last?.beat === beat ? last.at : now;
      this.seen.set(id, { beat, at });
      if (now - at <= SILENCE_MS) live.push({ id, role, position, backlog, uptimeMs, ...(pressure && { pressure }) });
      else if (now - at > EXPIRY_MS) dead.push(document);
    }
    for (const id of this.seen.keys()) if (!ids.has(id)) this.seen.delete(id);
    // Its next report counts from one again, which may be the last number seen.
    for (const { _id: id } of dead) this.seen.delete(id);
    await Promise.all(dead.map(({ _id, beat }) => this.documents.deleteOne({ _id, beat }, WITHIN)));
    return live;
  }

  async registered(): Promise<readonly string[]> {
    const stored = await this.documents.find({}, { ...WITHIN, projection: { _id: 1 } }).toArray();
    return stored.map(({ _id }) => _id);
  }

  async leave(id: string): Promise<void> {
    await this.documents.deleteOne({ _id: id }, WITHIN);
  }
}
