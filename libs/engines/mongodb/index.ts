import { endsWithin } from '#libs/async/deadline.js';
import { type DataStoreRecords } from '#libs/data-stores/data-store-records.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { LEASE_MS, type Leases } from '#libs/kernel/leases.js';
import { type ProcessRegistry } from '#libs/kernel/process-registry.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type DueStore } from '#libs/due/due-store.js';
import { type RunJournal } from '#libs/runner/run-journal.js';
import { type TickStore } from '#libs/scheduling/tick-store.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { type LaneWrites } from '#libs/stream-log/lane-writes.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type UsageStore } from '#libs/tenancy/published.js';
import { type RunHistory } from '#libs/workflow-history/run-history.js';
import { MongoBlobStore } from './stores/blob-store.js';
import { MongoDataStoreRecords } from './stores/data-store-records.js';
import { connectMongo, type MongoConnection } from './connect.js';
import { MongoDelayedEvents } from './stores/delayed-events.js';
import { MongoDueStore } from './stores/due-store.js';
import { MongoLeases } from './stores/leases.js';
import { MongoProcessRegistry } from './stores/process-registry.js';
import { MongoReadModelStore } from './read-models/read-model-store.js';
import { MongoRunHistory } from './stores/run-history.js';
import { MongoRunJournal } from './runs/run-journal.js';
import { MongoTickStore } from './stores/tick-store.js';
import { MongoUsageStore } from './stores/usage-store.js';
import { MongoVault } from './stores/vault.js';

export { mongoFault } from './faults.js';

export interface MongoOptions {
  /** mongodb:// or mongodb+srv://; may contain credentials. */
  readonly url: string;
  /** Default: the database of the URL, else `sluice`. */
  readonly database?: string;
  /** 32 bytes. */
  readonly secretKey: Buffer;
  /** Former key, which opens secrets that are still sealed with it. */
  readonly previousKey?: Buffer | undefined;
  readonly clock: Clock;
  /** Folder for local copies of blobs, which are mounted into jails. */
  readonly cacheDir: string;
  /** Called for a failure that does no harm for now and is retried. */
  readonly onWarning: (text: string, fields: object) => void;
  /** Time to live of leases in milliseconds. */
  readonly leaseMs?: number;
}

export interface JournalOptions {
  /** Whether this process publishes the outboxes of dead processes. Set for processes that run sources. */
  readonly relaysLeftOutboxes?: boolean;
}

export interface MongoEngines {
  readonly readModels: ReadModelStore;
  readonly lanes: LaneWrites;
  readonly due: DueStore;
  readonly delayed: DelayedEvents;
  readonly ticks: TickStore;
  readonly vault: Vault;
  readonly blobs: BlobStore;
  readonly usage: UsageStore;
  readonly records: DataStoreRecords;
  readonly runHistory: RunHistory;
  readonly leases: Leases;
  readonly registry: ProcessRegistry;
  /** Call it once. The outboxes are published to `log`, which must stay open longer than this. */
  openJournal(log: StreamLog, options?: JournalOptions): Promise<RunJournal>;
  /** Rejects within 2 s with the reason. */
  ping(): Promise<void>;
  /** The wall clock of the primary, in epoch milliseconds. Rejects within 2 s. */
  serverTime(): Promise<number>;
  /** Ends the work in flight and releases the leases. A second call waits for the first. */
  close(): Promise<void>;
}

/** Time for the journal to clear its outboxes. The remaining records are published again under the same ids. */
const CLOSE_MS = 12_000;

/** Opens every port backed by MongoDB, on one client. Rejects within 3 s when the server cannot be reached. */
export const openMongo = async (options: MongoOptions): Promise<MongoEngines> => {
  const connection = await connectMongo(options.url, options.database);
  try {
    return await assemble(options, connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
};

const assemble = async (options: MongoOptions, connection: MongoConnection): Promise<MongoEngines> => {
  const { db, beats } = connection;
  const { secretKey, previousKey, clock, cacheDir, onWarning, leaseMs = LEASE_MS } = options;
  const warn = (text: string, error: unknown): void =>
    onWarning(text, error instanceof Error ? { error: error.message } : {});
  const due = new MongoDueStore(db);
  await due.ensureIndexes();
  const delayed = new MongoDelayedEvents(db);
  await delayed.ensureIndexes();
  const records = new MongoDataStoreRecords(db);
  await records.ensureIndexes();
  const blobs = new MongoBlobStore(db, cacheDir);
  await blobs.ensureIndexes();
  const runHistory = new MongoRunHistory(db);
  await runHistory.ensureIndexes();
  const usage = new MongoUsageStore(db);
  await usage.ensureIndexes();
  const leases = new MongoLeases(beats, { ttlMs: leaseMs, onWarning });
  let journal: MongoRunJournal | undefined;
  const end = async (): Promise<void> => {
    try {
      await Promise.all([journal && endsWithin(journal.close(), CLOSE_MS), leases.close()]);
    } finally {
      await connection.close();
    }
  };
  const readModels = new MongoReadModelStore(db, { clock, onWarning });
  let closed: Promise<void> | undefined;
  return {
    readModels,
    lanes: readModels,
    due,
    delayed,
    ticks: new MongoTickStore(db),
    vault: new MongoVault(db, secretKey, previousKey),
    blobs,
    usage,
    records,
    runHistory,
    leases,
    registry: new MongoProcessRegistry(beats),
    async openJournal(log, { relaysLeftOutboxes = false } = {}) {
      journal = await MongoRunJournal.open(db, log, clock, {
        onWarning: warn,
      });
      if (relaysLeftOutboxes) journal.startSweeping();
      return journal;
    },
    ping: () => connection.ping(),
    serverTime: () => connection.serverTime(),
    close: () => (closed ??= end()),
  };
};
