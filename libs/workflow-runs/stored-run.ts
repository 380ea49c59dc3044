import { type RunHead, type RunState } from './run-state.js';

/** Commit of a step's `$.service.db` that follows the commit of the run. */
export interface DbMark {
  /** Id of the step. */
  readonly step: string;
  /** Version of the step's db after its commit. */
  readonly version: number;
}

type StoredHead = RunHead & { readonly db?: DbMark };

/**
 * Part of a stored run with what its last outcome changed in `$.service.db`. It is no part of the run's state, and goes with
 * the next commit.
 */
export const DB_CHANGES = 'db';

/** The head as the journal stores it. */
export const headText = ({ head }: RunState, db?: DbMark): string => JSON.stringify(db ? { ...head, db } : head);

export const headOf = (text: string): StoredHead => JSON.parse(text) as StoredHead;

interface StoredRun {
  readonly head: string;
  readonly parts: RunState['parts'];
}

export const runOf = (stored: StoredRun): RunState => {
  const { db: _mark, ...head } = headOf(stored.head);
  const { [DB_CHANGES]: _changes, ...parts } = stored.parts;
  return { head, parts };
};
