import { type ApiClient, type Data } from '#test/harness/api-client.js';
import { eventually } from '#test/harness/wait.js';
import { treeUsage } from './process-tree.js';
import { deployWorkflow, hitWith } from './run-load.js';
import { type Installation, openSluice } from './targets.js';

interface LoopRun {
  readonly state: string;
  readonly error: unknown;
  readonly steps: readonly { readonly started_at_ms: number; readonly ended_at_ms: number }[];
}

/** What an item costs. */
interface LoopFigures {
  readonly items: number;
  readonly concurrency: number;
  /** Time of the step by item. */
  readonly msAnItem: number;
  readonly cpuMsAnItem: number;
}

const ITEM = 'export default { run({ item }) { return item } }';
const WARM_UP_ITEMS = 20;
const TIMEOUT_MS = 600_000;

/** Runs a step once for each of many items, of which each returns its own value. */
export const loopFigures = async (items: number, concurrency: number): Promise<LoopFigures> => {
  const installation = await openSluice();
  const { api } = installation;
  try {
    const loop = { for_each: `Array.from({ length: steps.trigger.event.body.count }, (_, n) => n)`, concurrency };
    const { url } = await deployWorkflow(api, [ITEM], 'default', loop);
    // Starts the processes.
    await endedLoop(api, await hitWith(url, { count: WARM_UP_ITEMS }));
    const cpuBefore = cpuMsOf(installation);
    const [step] = (await endedLoop(api, await hitWith(url, { count: items }))).steps;
    if (!step) throw new Error('the run has no step');
    return {
      items,
      concurrency,
      msAnItem: (step.ended_at_ms - step.started_at_ms) / items,
      cpuMsAnItem: (cpuMsOf(installation) - cpuBefore) / items,
    };
  } finally {
    await installation.close();
  }
};

const cpuMsOf = ({ parts }: Installation): number =>
  parts().reduce((sum, { pid }) => sum + treeUsage(pid).cpuUs / 1_000, 0);

const endedLoop = async (api: ApiClient, id: string): Promise<LoopRun> => {
  const run = await eventually(
    `run ${id} has ended`,
    async () => {
      // It is not there before the history has it.
      const { status, body } = await api.call<Data<LoopRun>>('GET', `/v1/runs/${id}`);
      return status === 200 && !['queued', 'running', 'waiting'].includes(body.data.state) ? body.data : undefined;
    },
    TIMEOUT_MS,
    500,
  );
  if (run.state !== 'succeeded') throw new Error(`run ${id} is ${run.state}: ${JSON.stringify(run.error)}`);
  return run;
};
