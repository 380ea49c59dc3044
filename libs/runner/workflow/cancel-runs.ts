import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Actor } from '#libs/kernel/events.js';
import { type RunInput } from '#libs/workflow-runs/run-inputs.js';
import { headOf } from '#libs/workflow-runs/stored-run.js';
import { type RunJournal } from '../run-journal.js';
import { RUNS_FOLLOW } from './step-dbs.js';

/** Runs that are cancelled at once, because 100,000 may wait. */
const PAGE = 256;

export interface CancelRunsOptions {
  readonly workflowId: string;
  readonly journal: Pick<RunJournal, 'runs'>;
  readonly by: Actor | null;
  /** Undefined: every run. */
  readonly runs?: ReadonlySet<string> | undefined;
  readonly now: () => number;
  /** Resolves once the inputs, and all before them, are durable. Never resolves after the runner has lost its lane. */
  readonly decide: (inputs: readonly { readonly run: string; readonly input: RunInput }[]) => Promise<void>;
  readonly onFault: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Cancels unfinished runs of a workflow, page by page. Resolves to false when the runner ended before it was done. */
export const cancelRuns = async (options: CancelRunsOptions): Promise<boolean> => {
  const { workflowId, journal, by, runs, now, decide, onFault, signal } = options;
  const reason = runs ? 'api' : 'deactivated';
  const backoff = new Backoff({ firstMs: 100, longestMs: 5_000 });
  // What arrived before is in the journal then.
  await decide([]);
  for (let after = RUNS_FOLLOW; !signal.aborted;) {
    try {
      const page = await journal.runs(workflowId, after, PAGE);
      const unfinished = page.filter(({ run, head }) => (runs?.has(run) ?? true) && headOf(head).endedAt === null);
      const cancel = { type: 'cancel', now: now(), execution: null, reason, by } as const;
      if (unfinished.length > 0) await decide(unfinished.map(({ run }) => ({ run, input: cancel })));
      const last = page.at(-1);
      if (!last || page.length < PAGE) return true;
      after = last.run;
      backoff.reset();
    } catch (error) {
      onFault(error);
      await pause(backoff.next(), signal);
    }
  }
  return false;
};
