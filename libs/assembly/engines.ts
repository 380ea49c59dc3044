import { type RetrySchedule } from '#libs/delivery/retry-schedule.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type RunJournal } from '#libs/runtime/run-journal.js';
import { type TickStore } from '#libs/scheduling/tick-store.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';

/** Every port that the roles stand on, whatever engine is behind it. */
export interface Engines {
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  readonly log: StreamLog;
  readonly journal: RunJournal;
  readonly schedule: RetrySchedule;
  readonly ticks: TickStore;
  readonly vault: Vault;
  readonly blobs: BlobStore;
}
