import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { fail, start, succeed } from '#libs/workflow-runs/testing/run-samples.js';
import { type ApiClient, type Paged } from '#test/harness/api-client.js';
import { withStopped } from '#test/harness/move-scene.js';
import { randomOf } from '#test/faults/random.js';
import { newHistogram, quantilesMs } from './latencies.js';
import { dirMb, deployWorkflow, type DeployedWorkflow } from './run-load.js';
import { openSluice } from './targets.js';

const BATCH = 1_000;
const ASKED = 300;
/** A run arrives every second, the last one now. */
const EVERY_MS = 1_000;

interface Query {
  readonly name: string;
  readonly of: (n: number) => Readonly<Record<string, string>>;
}

/** Fills the history of a stopped server with ended runs, and times its lists. All times in ms. */
export const listFigures = async (count: number): Promise<Readonly<Record<string, unknown>>> => {
  const installation = await openSluice({ readyTimeoutMs: 300_000, env: { SLUICE_WORKSPACE_RUNS_MB: '1048576' } });
  const { server, api, restart } = installation;
  try {
    const workflow = await deployWorkflow(api, ['export default { run() {} }', 'export default { run() {} }']);
    await server.stop();
    await withStopped(server.dataDir, async ({ runHistory }) => {
      const end = Date.now();
      for (let from = 0; from < count; from += BATCH) {
        const size = Math.min(BATCH, count - from);
        await runHistory.apply(
          Array.from({ length: size }, (_, n) => runOf(workflow, from + n, end - (count - from - n) * EVERY_MS)).flat(),
        );
      }
    });
    const readyMs = await restart();
    const figures: Record<string, unknown> = { runs: count, diskMb: dirMb(server.dataDir), readyMs };
    for (const query of queriesOf(count)) figures[query.name] = await timesOf(api, workflow, query);
    return figures;
  } finally {
    await installation.close();
  }
};

/** One in twenty failed. Each summary has a word that each hundredth run has, and one of its own. */
const runOf = ({ id: workflowId, ownerId }: DeployedWorkflow, n: number, arrivedAt: number): RunChange[] => {
  const origin = { id: `run_${n.toString(36).padStart(18, '0')}`, workflowId, ownerId, arrivedAt };
  const $summary = JSON.stringify(`order ${n} of customer${n % 100} is paid`);
  const step = succeed(arrivedAt + 2, 1, null, { exports: { $return_value: '1', $summary } });
  const last = n % 20 === 0 ? fail(arrivedAt + 3, 2, 'E_X') : succeed(arrivedAt + 3, 2);
  return changesOf(origin, start(arrivedAt + 1), step, last);
};

const queriesOf = (count: number): readonly Query[] => {
  const random = randomOf(1);
  const any = (): number => Math.floor(random() * count);
  return [
    { name: 'newest', of: () => ({}) },
    { name: 'failed', of: () => ({ state: 'failed' }) },
    { name: 'since and until', of: () => ({ until: String(Date.now() - any() * EVERY_MS) }) },
    { name: 'q: a word of one run', of: () => ({ q: `${any()}` }) },
    { name: 'q: a word of each hundredth', of: () => ({ q: `customer${any() % 100}` }) },
    { name: 'q: a word of all, and one', of: () => ({ q: `paid ${any()}` }) },
    { name: 'q: the beginning of a word of all', of: () => ({ q: 'cust' }) },
  ];
};

const timesOf = async (api: ApiClient, { id }: DeployedWorkflow, { of }: Query): Promise<object> => {
  const times = newHistogram();
  let found = 0;
  for (let n = 0; n < ASKED; n++) {
    const query = { limit: '20', ...of(n) };
    const began = performance.now();
    const page = await api.expect<Paged<unknown>>(200, 'GET', `/v1/workflows/${id}/runs`, { query });
    times.recordValue(Math.max(1, Math.round((performance.now() - began) * 1_000)));
    found += page.data.length;
  }
  const { p50, p99, max } = quantilesMs(times);
  return { p50, p99, max, found };
};
