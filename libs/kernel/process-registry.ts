import { type Position } from './events.js';

/** Number of unfinished records of the sources and workspaces that have the most. */
export interface Pressure {
  readonly sources: Readonly<Record<string, number>>;
  readonly workspaces: Readonly<Record<string, number>>;
  /** Number of sources of these workspaces that have unfinished records. Absent from webhook workers. */
  readonly sourcesOf?: Readonly<Record<string, number>>;
}

/** Report of one process to the others of its installation. */
export interface ProcessReport {
  readonly id: string;
  /** Name of the app. */
  readonly role: string;
  /** Position that all followers of the event log in the process (live views, projections, reactors) have reached. */
  readonly position: Position;
  /** Number of unfinished records that the process has or may receive, for back-pressure. */
  readonly backlog: number;
  /** Largest owners of these records; absent when no owner has many. */
  readonly pressure?: Pressure;
  /** Uptime of the process at the report, by its monotonic clock. */
  readonly uptimeMs: number;
}

/** Registry of live processes and their reports. */
export interface ProcessRegistry {
  /** Call it at least once a second. A process that is silent for longer than `SILENCE_MS` counts as gone. */
  report(report: ProcessReport): Promise<void>;
  /** Returns the latest report of every live process. */
  live(): Promise<readonly ProcessReport[]>;
  /**
   * Returns the ids of all processes that have reported and not left, silent ones included. A process that is silent
   * for `EXPIRY_MS` is removed, and its next report registers it again.
   */
  registered(): Promise<readonly string[]>;
  /** Idempotent. */
  leave(id: string): Promise<void>;
}

/** Measured by the reader's own monotonic clock since the last change it saw, because clocks of machines differ. */
export const SILENCE_MS = 3_000;

/** How long a silent process stays registered, as measured by one reader. */
export const EXPIRY_MS = 20 * SILENCE_MS;
