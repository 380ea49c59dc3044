import { type Position } from './events.js';

/** Records that are not done, of the sources and workspaces that have most of them. */
export interface Pressure {
  readonly sources: Readonly<Record<string, number>>;
  readonly workspaces: Readonly<Record<string, number>>;
}

/** What a process of an installation tells the others. */
export interface ProcessReport {
  readonly id: string;
  /** Name of the app. */
  readonly role: string;
  /** Everything in the process that follows the event log (tables in memory, projections, reactors) has come this far. */
  readonly position: Position;
  /** Records that it has taken, or may take, and that are not done: what back-pressure looks at. */
  readonly backlog: number;
  /** Whose they are; absent when nobody's are many. */
  readonly pressure?: Pressure;
}

/** Which processes live, and how far each has come. */
export interface ProcessRegistry {
  /** To be repeated at least once a second: who is silent for longer than `SILENCE_MS` counts as gone. */
  report(report: ProcessReport): Promise<void>;
  /** The latest report of every process that lives. */
  live(): Promise<readonly ProcessReport[]>;
  /** Idempotent. */
  leave(id: string): Promise<void>;
}

/** Measured with the reader's own monotonic clock from the last change it saw: clocks of machines differ. */
export const SILENCE_MS = 3_000;
