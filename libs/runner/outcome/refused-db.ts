import { type UserError } from '#libs/component-model/run-output.js';
import { userError, type RunOutcome } from '#libs/sandbox/index.js';
import { type DbChanges, type DbDraft } from './db-draft.js';

/** Applies the changes of one run. Returns the error of the run when they exceed a limit, and applies none then. */
export const applyDb = (db: DbDraft, changes: DbChanges): UserError | undefined => {
  const fault = db.apply(changes);
  return fault === undefined
    ? undefined
    : userError('DbLimitExceeded', `this run's changes to $.service.db are refused: ${fault}`);
};

/** Replaces the db changes by an error, and keeps emits and log lines. */
export const withoutDb = (outcome: RunOutcome, error: UserError): RunOutcome => ({
  ...outcome,
  status: outcome.status === 'ok' ? 'threw' : outcome.status,
  error,
  dbChanges: {},
});
