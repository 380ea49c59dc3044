import { type Db } from 'mongodb';
import { type RunCommit } from '#libs/runner/run-journal.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { MongoRunJournal, type RunJournalOptions } from '../runs/run-journal.js';
import { CrashingProcess, type Crash } from './crashing.js';
import { openTestDatabase } from './test-database.js';

const TOPIC = 'emits.dc_1';

export const emit = (n: number, size = 0): LogRecord => ({
  topic: TOPIC,
  key: 'dc_1',
  headers: { id: `e${n}`, 'x.$y': '1' },
  value: JSON.stringify('x'.repeat(size)),
});

/** A commit that changes every field, by the version that it expects. */
export const commit = (expectedVersion: number, change: Partial<RunCommit> = {}): RunCommit => ({
  executable: 'dc_1',
  expectedVersion,
  head: `head ${expectedVersion}`,
  parts: { n: `${expectedVersion}`, 'a.b': `${expectedVersion}` },
  inbox: [`inv_${expectedVersion}`],
  records: [emit(expectedVersion)],
  ...change,
});

/** The state that such commits produce up to a version. */
export const stateAt = (version: number) => ({
  version,
  head: `head ${version - 1}`,
  parts: { n: `${version - 1}`, 'a.b': `${version - 1}` },
});

/** A database, a log, and processes that start and end. */
export class OutboxWorld {
  readonly log = new InMemoryStreamLog();
  readonly time = { now: 1_700_000_000_000 };
  readonly clock = { now: (): number => this.time.now };
  private readonly open: MongoRunJournal[] = [];

  private constructor(
    readonly db: Db,
    private readonly drop: () => Promise<void>,
  ) {}

  static async open(): Promise<OutboxWorld> {
    const { db, drop } = await openTestDatabase();
    const world = new OutboxWorld(db, drop);
    await world.log.createTopic(TOPIC, {});
    return world;
  }

  journal(options: RunJournalOptions = {}, stores: { db?: Db; log?: InMemoryStreamLog } = {}): MongoRunJournal {
    const journal = new MongoRunJournal(stores.db ?? this.db, stores.log ?? this.log, this.clock, options);
    this.open.push(journal);
    return journal;
  }

  /** A journal that is never closed, because its process dies. */
  dying(
    crashAt: (name: string, nth: number) => Crash | undefined,
    options: RunJournalOptions = {},
  ): { journal: MongoRunJournal; process: CrashingProcess } {
    const process = new CrashingProcess(({ name, nth }) => crashAt(name, nth));
    return { journal: new MongoRunJournal(process.db(this.db), process.log(this.log), this.clock, options), process };
  }

  /** The log with another `publish`. */
  logThat(publish: (records: readonly LogRecord[]) => Promise<readonly (number | null)[]>): InMemoryStreamLog {
    return new Proxy(this.log, {
      get: (target, name) => (name === 'publish' ? publish : (Reflect.get(target, name) as unknown)),
    });
  }

  /** Commits as an owner that ends cleanly with an empty outbox. */
  async committed(version: number): Promise<void> {
    const journal = new MongoRunJournal(this.db, this.log, this.clock);
    await journal.load({ executable: 'dc_1' });
    await journal.commit(commit(version));
    await journal.close();
  }

  /** Ids in the topic. */
  async emitted(): Promise<(string | undefined)[]> {
    return (await this.log.read(TOPIC, -1, 10_000)).map(({ headers }) => headers['id']);
  }

  /** Versions whose records are in the outbox. */
  async outbox(): Promise<string[]> {
    const documents = this.db.collection<{ _id: string; outbox?: object }>('run_journal');
    return Object.keys((await documents.findOne({ _id: 'dc_1' }))?.outbox ?? {});
  }

  partCount(): Promise<number> {
    return this.db.collection('outbox_parts').countDocuments({});
  }

  async close(): Promise<void> {
    await Promise.all(this.open.map((journal) => journal.close()));
    await this.drop();
  }
}
