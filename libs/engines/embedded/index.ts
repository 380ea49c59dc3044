import { join } from 'node:path';
import { type DataStoreLimits } from '#libs/component-model/data-store-calls.js';
import { type DataStoreRecords } from '#libs/data-stores/data-store-records.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type Leases } from '#libs/kernel/leases.js';
import { type ProcessRegistry } from '#libs/kernel/process-registry.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type DueStore } from '#libs/due/due-store.js';
import { type RunJournal } from '#libs/runner/run-journal.js';
import { type TickStore } from '#libs/scheduling/tick-store.js';
import { type UsageStore } from '#libs/tenancy/published.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type RunHistory } from '#libs/workflow-history/run-history.js';
import { faultOf } from '../faults.js';
import { embeddedFault } from './faults.js';
import { checkBeforeOpening } from './place.js';
import { EmbeddedBlobStore } from './stores/blob-store.js';
import { EmbeddedDelayedEvents } from './stores/delayed-events.js';
import { EmbeddedDueStore } from './stores/due-store.js';
import { EmbeddedDataStoreRecords } from './stores/data-store-records.js';
import { DataDirLock } from './writer/data-dir-lock.js';
import { EmbeddedEventStore } from './events/event-store.js';
import { EmbeddedLeases } from './stores/leases.js';
import { EmbeddedProcessRegistry } from './stores/process-registry.js';
import { EmbeddedReadModelStore } from './read-models/read-model-store.js';
import { ScanThread } from './read-models/scan-thread.js';
import { EmbeddedRunHistory } from './stores/run-history.js';
import { EmbeddedRunJournal } from './runs/run-journal.js';
import { Checkpoints, type CheckpointFigures, type LargeLog } from './writer/checkpoints.js';
import { FILES, type FileName } from './writer/schema.js';
import { Database } from './writer/sqlite-driver.js';
import { EmbeddedStreamLog } from './stream-log/stream-log.js';
import { EmbeddedTickStore } from './stores/tick-store.js';
import { EmbeddedUsageStore } from './stores/usage-store.js';
import { EmbeddedVault } from './stores/vault.js';
import { threadData } from './writer/wal-signals.js';
import { Writer, type WriterStats } from './writer/writer.js';

export type { CheckpointFigures };

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** 32 bytes. */
  readonly secretKey: Buffer;
  /** Former key, which opens secrets that are still sealed with it. */
  readonly previousKey?: Buffer | undefined;
  readonly clock: Clock;
  /** Called once when no write is possible any more (I/O error, writer gone). The process should end. */
  readonly onFatal: (error: Error) => void;
  /** Called with what the operator should know before the engines are open. */
  readonly onWarning?: (text: string) => void;
  /** Called when a write-ahead log becomes large, and when it is small again. */
  readonly onLargeLog?: (log: LargeLog) => void;
  /** Default: DATA_STORE_LIMITS. */
  readonly dataStoreLimits?: DataStoreLimits;
  /** Limit on the records that are held for consumers, in bytes. Default: a quarter of the heap, 256 MB at most. */
  readonly fetchBytes?: number | undefined;
}

export interface EmbeddedStats extends WriterStats {
  readonly opsPerCommit: number;
  /** Bytes of the newest records held in memory for consumers. */
  readonly tailBytes: number;
  /** Bytes of unfinished records that were read for consumers, and their limit. */
  readonly inHand: { readonly held: number; readonly limit: number };
  /** Why the last retention pass failed; null when it completed. */
  readonly retentionFailure: string | null;
  /** The write-ahead log of each file. */
  readonly checkpoints: Readonly<Record<FileName, CheckpointFigures>>;
}

export interface EmbeddedEngines {
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  readonly log: StreamLog;
  readonly journal: RunJournal;
  readonly runHistory: RunHistory;
  readonly due: DueStore & Pick<EmbeddedDueStore, 'bytesOf'>;
  readonly delayed: DelayedEvents;
  readonly ticks: TickStore;
  readonly usage: UsageStore;
  readonly leases: Leases;
  readonly registry: ProcessRegistry;
  readonly vault: Vault;
  readonly blobs: BlobStore;
  readonly records: DataStoreRecords;
  readonly clock: Clock;
  readonly faultOf: FaultOf;
  stats(): EmbeddedStats;
  /** What a read has found damaged since the start, and what to do. */
  damage(): string | undefined;
  /** Bytes waiting for the disk. Cheap enough for every arrival, while `stats` reads file sizes. */
  queuedBytes(): number;
  /** Share of the write queue in use. Above 1, refuse new work (429) until it falls. */
  pressure(): number;
  /** Runs one retention pass over all topics. Otherwise one runs every 30 s. */
  sweep(): Promise<void>;
  /** Drains the writer, checkpoints the files and releases the directory. A second call waits for the first. */
  close(): Promise<void>;
}

/** Bytes waiting for the writer above which new work should be refused. */
const QUEUE_BYTES = 32 << 20;

/** Opens all ports on one data directory. Rejects when another process owns it or a newer version wrote it. */
export const openEmbedded = async (options: EmbeddedOptions): Promise<EmbeddedEngines> => {
  const { dataDir, clock } = options;
  const lock = DataDirLock.acquire(dataDir);
  let writer: Writer | undefined;
  let checkpoints: Checkpoints | undefined;
  const readers: Database[] = [];
  try {
    let fatal = false;
    const onFatal = (error: Error): void => {
      if (!fatal) options.onFatal(error);
      fatal = true;
    };
    checkBeforeOpening(dataDir, options.onWarning ?? (() => undefined));
    const threads = threadData(dataDir, FILES);
    writer = await Writer.start(threads, onFatal);
    checkpoints = await Checkpoints.start(threads, { onFatal, onLargeLog: options.onLargeLog ?? (() => undefined) });
    let damage: string | undefined;
    const reader = (file: FileName): Database => {
      const onMalformed = (error: unknown): void => void (damage ??= damageOf(dataDir, file, error));
      const db = new Database(join(dataDir, `${file}.db`), { readOnly: true, onMalformed });
      readers.push(db);
      return db;
    };
    return assemble(
      options,
      { writer, checkpoints },
      { events: reader('events'), data: reader('data'), read: reader('read') },
      {
        blobs: await EmbeddedBlobStore.open(join(dataDir, 'blobs')),
        release: () => lock.release(),
        damage: () => damage,
        clock,
      },
    );
  } catch (error) {
    for (const db of readers) db.close();
    await checkpoints?.close();
    await writer?.close();
    lock.release();
    throw error;
  }
};

const damageOf = (dataDir: string, file: FileName, error: unknown): string =>
  `${join(dataDir, `${file}.db`)} is damaged (${messageOf(error)}): stop the server, and ` +
  (file === 'read' ? 'remove it, which makes the next start rebuild it' : 'put the data directory back from a backup');

const assemble = (
  { dataDir, secretKey, previousKey, dataStoreLimits, fetchBytes }: EmbeddedOptions,
  { writer, checkpoints }: { readonly writer: Writer; readonly checkpoints: Checkpoints },
  readers: Readonly<Record<FileName, Database>>,
  { blobs, release, damage, clock }: Pick<EmbeddedEngines, 'blobs' | 'damage' | 'clock'> & { release: () => void },
): EmbeddedEngines => {
  const scans = new ScanThread(join(dataDir, 'read.db'));
  const vault = new EmbeddedVault(writer, readers.data, secretKey, previousKey);
  const log = new EmbeddedStreamLog(writer, readers.data, clock, fetchBytes);
  const end = async (): Promise<void> => {
    try {
      await log.close();
    } finally {
      await writer.close(async () => {
        await scans.close();
        for (const db of Object.values(readers)) db.close();
        await checkpoints.close();
      });
      release();
    }
  };
  let closed: Promise<void> | undefined;
  return {
    events: new EmbeddedEventStore(writer, readers.events, clock),
    readModels: new EmbeddedReadModelStore(writer, readers.read, scans),
    log,
    journal: new EmbeddedRunJournal(writer, readers.data, log, clock),
    runHistory: new EmbeddedRunHistory(writer, readers.data),
    due: new EmbeddedDueStore(writer, readers.data),
    delayed: new EmbeddedDelayedEvents(writer, readers.data),
    ticks: new EmbeddedTickStore(writer, readers.data),
    usage: new EmbeddedUsageStore(writer, readers.data),
    leases: new EmbeddedLeases(clock),
    registry: new EmbeddedProcessRegistry(),
    clock,
    vault,
    blobs,
    records: new EmbeddedDataStoreRecords(writer, readers.data, dataStoreLimits),
    faultOf: faultOf(embeddedFault),
    stats: () => {
      const stats = writer.stats();
      return {
        ...stats,
        opsPerCommit: stats.commits === 0 ? 0 : stats.committedOps / stats.commits,
        ...log.health(),
        checkpoints: {
          events: checkpoints.figures('events'),
          data: checkpoints.figures('data'),
          read: checkpoints.figures('read'),
        },
      };
    },
    damage,
    queuedBytes: () => writer.stats().queuedBytes,
    pressure: () => writer.stats().queuedBytes / QUEUE_BYTES,
    sweep: () => log.sweep(),
    close: () => (closed ??= end()),
  };
};
