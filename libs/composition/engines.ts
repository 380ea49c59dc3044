import { type DataStoreRecords } from '#libs/data-stores/data-store-records.js';
import { type DueStore } from '#libs/due/due-store.js';
import { type CheckedEngines } from '#libs/hosting/engines-awaited.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type ClockSkew } from '#libs/kernel/common-clock.js';
import { type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type Leases } from '#libs/kernel/leases.js';
import { type ProcessRegistry } from '#libs/kernel/process-registry.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type RunJournal } from '#libs/runner/run-journal.js';
import { type TickStore } from '#libs/scheduling/tick-store.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { type LaneWrites } from '#libs/stream-log/lane-writes.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type UsageStore } from '#libs/tenancy/published.js';
import { type RunHistory } from '#libs/workflow-history/run-history.js';

/** Every port that the roles use, independent of the engine behind it. */
export interface Engines {
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  /** Lanes of read models that several processes write. Without it one process writes all of them. */
  readonly lanes?: LaneWrites;
  readonly log: StreamLog;
  readonly journal: RunJournal;
  readonly runHistory: RunHistory;
  readonly due: DueStore;
  readonly delayed: DelayedEvents;
  readonly ticks: TickStore;
  readonly vault: Vault;
  readonly blobs: BlobStore;
  readonly usage: UsageStore;
  readonly records: DataStoreRecords;
  readonly leases: Leases;
  readonly registry: ProcessRegistry;
  /** The time that all processes of the installation share. */
  readonly clock: Clock;
  /** Recognises an error of any port that the state of its engine caused. */
  readonly faultOf: FaultOf;
}

/** Engines that are servers, each of which may be unavailable. */
export interface RemoteEngines extends Engines, CheckedEngines {
  readonly lanes: LaneWrites;
  readonly clock: Clock & ClockSkew;
  /** Records since the start that were deleted before this process read them, by consumer group. */
  skipped(): Readonly<Record<string, number>>;
  /** Bytes of unfinished records that this process has read for its consumers, and their limit. */
  inHand(): { readonly held: number; readonly limit: number };
  close(): Promise<void>;
}
