import { type ApiClient, type Data, type Paged } from '#test/harness/api-client.js';
import { eventually } from '#test/harness/wait.js';
import { inParallel } from './many-sources.js';
import { PartProcess } from './part-process.js';
import { type GeneratorApi, type LoadOptions, type Quantiles } from './parts.js';
import { ANSWERS, deployWorkflow, type DeployedWorkflow, hitWith, totalRuns } from './run-load.js';
import { openSluice } from './targets.js';

/** Requests a second to the other workflow. */
const OTHER_RATE = 10;
const ALONE_MS = 20_000;
const TIMEOUT_MS = 1_200_000;

interface BulkFigures {
  readonly runs: number;
  readonly rate: number;
  readonly secondsToEnd: number;
  /** Replays that arrived in each whole second. */
  readonly perSecond: Spread;
  /** Time of the other workflow's answers, before and meanwhile. */
  readonly aloneMs: Pick<Quantiles, 'p50' | 'p99'>;
  readonly besideMs: Pick<Quantiles, 'p50' | 'p99' | 'max'>;
  readonly failed: number;
}

interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
  readonly deviation: number;
}

/** Replays many runs with one request, beside a quiet workflow that answers its callers. */
export const bulkFigures = async (runs: number, rate: number): Promise<BulkFigures> => {
  const installation = await openSluice();
  const load = await PartProcess.start<GeneratorApi>('./load-generator.js');
  const { api } = installation;
  try {
    const workflow = await deployWorkflow(api, ['export default { run() { return 1 } }']);
    const other = await deployWorkflow(api, [ANSWERS], 'custom');
    await inParallel(runs, async (n) => void (await hitWith(workflow.url, { n })), 64);
    await eventually('every run has ended', () => haveEnded(api, workflow, runs), TIMEOUT_MS, 500);
    const shape = {
      run: 1,
      warmUpMs: 2_000,
      client: 'raw',
      urls: [other.url],
      connections: 4,
      rate: OTHER_RATE,
    } as const;
    const loaded = (options: Pick<LoadOptions, 'run' | 'durationMs'>) => load.call('load', { ...shape, ...options });
    const alone = await loaded({ run: 1, durationMs: ALONE_MS });
    const [beside, progress] = await Promise.all([
      loaded({ run: 2, durationMs: Math.max(5_000, (runs / rate) * 1_000 - 2_000) }),
      replayedAll(api, workflow, rate),
    ]);
    const { p50, p99, max } = beside.answerMs;
    return {
      runs: progress.started,
      rate,
      secondsToEnd: (progress.ended_at_ms - progress.started_at_ms) / 1_000,
      perSecond: await spreadOf(api, workflow),
      aloneMs: { p50: alone.answerMs.p50, p99: alone.answerMs.p99 },
      besideMs: { p50, p99, max },
      failed: beside.failed + beside.refused,
    };
  } finally {
    await load.stop();
    await installation.close();
  }
};

/** Lists count up to 10,000. */
const haveEnded = async (api: ApiClient, { id }: DeployedWorkflow, runs: number): Promise<true | undefined> => {
  const unfinished = await totalRuns(api, id, 'queued,running,waiting');
  return unfinished === 0 && (await totalRuns(api, id, 'succeeded')) >= Math.min(runs, 10_000) ? true : undefined;
};

interface Progress {
  readonly state: string;
  readonly started: number;
  readonly started_at_ms: number;
  readonly ended_at_ms: number;
}

const replayedAll = async (api: ApiClient, { id }: DeployedWorkflow, rate: number): Promise<Progress> => {
  const path = `/v1/workflows/${id}/runs/replay`;
  const body = { filter: { state: 'succeeded' }, rate };
  const { data } = await api.expect<Data<{ id: string }>>(202, 'POST', path, { body });
  return eventually(
    'the bulk replay has ended',
    async () => {
      const reply = await api.expect<Data<Progress>>(200, 'GET', `${path}/${data.id}`);
      return reply.data.state === 'running' ? undefined : reply.data;
    },
    TIMEOUT_MS,
    1_000,
  );
};

interface Listed {
  readonly replay_of: string | null;
  readonly created_at_ms: number;
}

/** Seconds count from the first replay. The last one is not whole. */
const spreadOf = async (api: ApiClient, { id }: DeployedWorkflow): Promise<Spread> => {
  const times: number[] = [];
  for (let after: string | null = ''; after !== null;) {
    const query: Record<string, string> = { limit: '100', ...(after === '' ? {} : { after }) };
    const page: Paged<Listed> = await api.expect(200, 'GET', `/v1/workflows/${id}/runs`, { query });
    times.push(...page.data.filter(({ replay_of: of }) => of !== null).map(({ created_at_ms: at }) => at));
    // The replays are the newest runs.
    after = page.data.every(({ replay_of: of }) => of !== null) ? page.page_info.end_cursor : null;
  }
  const first = Math.min(...times);
  const counts = new Array<number>(Math.floor((Math.max(...times) - first) / 1_000)).fill(0);
  for (const at of times) {
    const second = Math.floor((at - first) / 1_000);
    if (second < counts.length) counts[second] = (counts[second] ?? 0) + 1;
  }
  counts.sort((a, b) => a - b);
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length;
  return {
    min: counts[0] ?? 0,
    median: counts[Math.floor(counts.length / 2)] ?? 0,
    max: counts.at(-1) ?? 0,
    deviation: Math.sqrt(variance),
  };
};
