import { type DueEntry } from '#libs/due/due-store.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type Invocation } from './invocation.js';

/**
 * What an executable decides on: an arrival that needs no run, the outcome of code, an alarm that fell due, a resume or
 * a cancellation. The meaning of each is the executable's. The runner knows what brought it and what to do afterwards.
 */
export interface Input {
  /** What the lane brought. Undefined for what this process itself has to say, such as a note in the log. */
  readonly invocation: Invocation | undefined;
  /** True for a repeat. It does not say that the first is done, and pushes no other id out of the inbox. */
  readonly repeat?: true;
  /** Called once the decision is durable. */
  readonly committed: () => void;
  /** Called when it will not be committed here, because another process has committed or the runner was closed. */
  readonly abandoned?: (reason: Error) => void;
}

/** What the inputs of one commit leave. */
export interface Decision<S> {
  /** Changed parts of the stored state; null for one that goes. */
  readonly facts: Readonly<Record<string, string | null>>;
  readonly records: readonly LogRecord[];
  /**
   * What is due later. They are put before the commit, so one may fall due for a state that was never written. Whoever
   * gets an alarm compares it with the state (docs/adr/0070).
   */
  readonly alarms: readonly DueEntry[];
  /** Last event id given out. */
  readonly lastEventId: string;
  /** The state once it is durable. */
  readonly next: S;
  /** Called once it is durable, after the inputs' own `committed`. */
  readonly stored?: () => void;
}

/** How a commit must be smaller than one that the store refused. */
export interface Cut {
  /** Index into `cuts`; 0 leaves out nothing. */
  readonly level: number;
  readonly reason: string;
}

/** What the runner drives: it stores the decisions on the inputs of one lane, in order, and acknowledges what led to them. */
export interface Executable<S, I extends Input> {
  readonly id: string;
  /** Names what a commit of one input leaves out when the store refuses it for its size. The first is nothing. */
  readonly cuts: readonly string[];
  /** Decides on one batch of inputs at a time. May be called again for the same inputs, when the commit failed. */
  decide(state: S, inputs: readonly I[], cut: Cut): Promise<Decision<S>>;
  /** What an input adds to its commit. */
  weightOf(input: I): { readonly bytes: number; readonly records: number };
  /** Frees what an input holds, once it is committed or abandoned. */
  release(input: I): void;
}
