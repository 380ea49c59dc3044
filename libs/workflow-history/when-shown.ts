import { endsWithin } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { type RunHistory } from './run-history.js';

const AGAIN_MS = 20;

/**
 * Resolves once the history has this version of a run, no longer has the run, or `withinMs` have passed. Rejects when the
 * history cannot be read.
 */
export const whenShown = async (
  history: Pick<RunHistory, 'find'>,
  { runId, version, withinMs }: { readonly runId: string; readonly version: number; readonly withinMs: number },
): Promise<void> => {
  const until = performance.now() + withinMs;
  const shown = async (): Promise<void> => {
    while (performance.now() < until) {
      const run = await history.find(runId);
      if (!run || run.version >= version) return;
      await pause(AGAIN_MS);
    }
  };
  await endsWithin(shown(), withinMs);
};
