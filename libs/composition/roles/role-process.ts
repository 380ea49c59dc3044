import { type Config } from '#libs/config/index.js';
import { type Arrival } from '#libs/ingress/admission.js';
import { type LeasedWorkOptions } from '#libs/kernel/leased-work.js';
import { type FreshTables } from '#libs/kernel/table-freshness.js';
import { type Pressure } from '#libs/kernel/process-registry.js';
import { type PlatformEvents } from '#libs/platform-events/platform-events.js';
import { type HandedOver } from '#libs/stream-log/handed-over.js';
import { type Refusal } from '#libs/stream-log/refusal.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { type ControlPlane } from '../control-plane.js';

/** Services of a process for its roles, whether it has one or all (docs/adr/0019). */
export interface RoleProcess {
  readonly config: Config;
  readonly plane: ControlPlane;
  /** Whether the tables of the plane are new enough to decide about an event. */
  readonly tables: FreshTables;
  readonly topics: TopicPolicy;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Reports to users what happens to their resources. */
  readonly platformEvents: Pick<PlatformEvents, 'report'>;
  /** Counts the records in flight in this process. */
  readonly handedOver: HandedOver;
  /** Adds a step of the shutdown. Steps run in reverse order of these calls. */
  readonly closing: (step: string, close: () => Promise<void>) => void;
  /**
   * Starts work that only one process does at a time; it ends at shutdown. Resolves when the work runs, or at once when
   * it may have to wait for another process.
   */
  readonly leased: (work: Omit<LeasedWorkOptions, 'leases' | 'onFailure'>) => Promise<void>;
  /** Publishes the number of a role's unfinished records to operators and to the other processes. */
  readonly reportBacklog: (workload: Workload) => void;
  /** Publishes the number of unfinished records of another consumer group of the role, to operators only. */
  readonly reportLag: (group: ConsumedGroup) => void;
}

/** Unfinished records of one consumer group. */
export interface ConsumedGroup {
  readonly group: string;
  /** Prefix of the topics that it consumes. */
  readonly prefix: string;
  readonly backlog: () => number;
}

/** Unfinished records of one role. */
export interface Workload extends ConsumedGroup {
  /** Sources and workspaces that own most of the records. */
  readonly pressure: () => Pressure | undefined;
}

/** Room on the disk and in the lanes. Known only where one process has every role. */
export interface Room {
  /** Returns the refusal of an event for which there is no room. */
  refusal(arrival: Arrival): Refusal | undefined;
  /** Whether a topic accepts no more records for now. */
  isFull(topic: string): boolean;
  /** Whether a source starts no run for now. */
  isPaused(sourceId: string): boolean;
}
