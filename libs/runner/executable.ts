import { type DueEntry } from '#libs/due/due-store.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type Invocation } from './invocation.js';
import { type RunCommit } from './run-journal.js';

/**
 * What an executable decides on: an arrival that needs no run, the outcome of code, a due alarm, a resume or a
 * cancellation. Only the executable knows its meaning. The runner knows its origin, and what to do after the commit.
 */
export interface Input {
  /** The invocation that the lane brought. Undefined for an input of this process itself, such as a log line. */
  readonly invocation: Invocation | undefined;
  /** True for a repeat. It does not mean that the first is done, and its id takes no place in the inbox. */
  readonly repeat?: true;
  /** Called once the decision is durable, with those emits of all inputs that it dropped as repeats. */
  readonly committed: (dropped: ReadonlySet<object>) => void;
  /** Called when this process will not commit it, because another process has committed or the runner was closed. */
  readonly abandoned?: (reason: Error) => void;
}

/** The result of the inputs of one commit. */
export interface Decision<S> {
  /** Changed parts of the stored state; null for a removed one. */
  readonly facts: Readonly<Record<string, string | null>>;
  readonly records: readonly LogRecord[];
  /**
   * Entries that fall due later. They are put before the commit, so one may fall due for a state that was never
   * written. The consumer of an alarm compares it with the state (docs/adr/0070).
   */
  readonly alarms: readonly DueEntry[];
  /** Last assigned event id. */
  readonly lastEventId: string;
  /** What the executable counts. Stored in place of what was there. */
  readonly counts?: string | undefined;
  /**
   * Changes of runs, one for a run. They are durable before the executable's own state is written. So if the process dies
   * in between, the input comes again and finds its run. Absent for an executable without runs.
   */
  readonly runs?: readonly RunCommit[];
  /** Commits of further states, which are durable after those of the runs and before the executable's own. */
  readonly states?: readonly RunCommit[];
  /** Emits that deduplication dropped. Absent for none. */
  readonly dropped?: ReadonlySet<object> | undefined;
  /** The state after the commit. */
  readonly next: S;
  /** Called once the commit is durable, after the inputs' own `committed`. */
  readonly stored?: () => void;
}

/** How much smaller a commit must be than one that the store refused. */
export interface Cut {
  /** Index into `cuts`; 0 leaves out nothing. */
  readonly level: number;
  readonly reason: string;
}

/** What the runner drives: it stores the decisions on the inputs of one lane, in order, and then acknowledges these. */
export interface Executable<S, I extends Input> {
  readonly id: string;
  /** Names what a commit of one input leaves out when the store refuses it for its size. The first is nothing. */
  readonly cuts: readonly string[];
  /** Awaited before the inputs of a commit are chosen, so that those which arrive meanwhile are committed with them. */
  prepare(): Promise<void>;
  /** Decides on one batch of inputs at a time. After a failed commit it may be called again for the same inputs. */
  decide(state: S, inputs: readonly I[], cut: Cut): Promise<Decision<S>>;
  /** Returns what an input adds to its commit. */
  weightOf(input: I): { readonly bytes: number; readonly records: number };
  /** Frees the resources of an input that was committed or abandoned. */
  release(input: I): void;
}
