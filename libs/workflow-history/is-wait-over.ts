import { isVoid } from '#libs/workflow-runs/run-steering.js';
import { type RunHistory } from './run-history.js';

/**
 * Whether the history knows that the wait of an execution is over. It may be behind the run, and it does not have every
 * run that ended.
 */
export const isWaitOver = async (
  history: Pick<RunHistory, 'find'>,
  { runId, execution }: { readonly runId: string; readonly execution: number },
): Promise<boolean> => {
  const run = await history.find(runId);
  return run !== undefined && isVoid(run.state, execution);
};
