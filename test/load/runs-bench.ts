import { setTimeout as pause } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { type ApiClient, type Data } from '#test/harness/api-client.js';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { eventually } from '#test/harness/wait.js';
import { applyFigures } from './apply-figures.js';
import { bulkFigures } from './bulk-figures.js';
import { listFigures } from './listed-runs.js';
import { loopFigures } from './loop-figures.js';
import { describeMachine } from './machine.js';
import { inParallel } from './many-sources.js';
import { type GeneratorApi } from './parts.js';
import { PartProcess } from './part-process.js';
import { treeUsage } from './process-tree.js';
import { searchFigures } from './search-figures.js';
import { ANSWERS, deployWorkflow, dirMb, hitWith, totalRuns } from './run-load.js';
import { openSluice } from './targets.js';
import { toolFigures } from './tool-figures.js';

/**
 * What many runs of workflows cost a standalone server: runs that wait, that are due within one second, that are listed,
 * that keep it busy beside a quiet workflow, that loop, that are replayed in bulk, and that are tools; and what searches of
 * events cost. Prints one line of JSON for each.
 */

exitOnSignals();

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const options = new Command('bench:runs')
  .description('Measures what many runs of workflows cost a standalone server.')
  .option('--waiting <n>', 'runs that wait for an hour: memory, disk and the start on them', whole)
  .option('--due <n>', 'waits that end at one moment: how late the last run goes on', whole)
  .option('--listed <n>', 'runs in the history: time of lists and of q', whole)
  .option('--noisy <seconds>', 'of load on one workflow, beside 10 requests a second to another', whole)
  .option('--items <n>', 'of a for_each, one at a time and ten at once: time of an item', whole)
  .option('--bulk <n>', 'runs that one request replays: how even it is, and the time of other answers meanwhile', whole)
  .option('--rate <n>', 'replays a second of --bulk', whole, 100)
  .option('--tools <n>', 'workflows with a tool trigger: time of tools/list', whole)
  .option('--apply <n>', 'workflows of a folder: time of sluice workflows apply', whole)
  .option('--searched <n>', 'events of 1 KB: time of searches in them, and of an endpoint beside searches', whole)
  .option('--rounds <n>', 'of --due, --noisy and --items', whole, 3)
  .parse()
  .opts<{
    waiting?: number;
    due?: number;
    listed?: number;
    noisy?: number;
    items?: number;
    bulk?: number;
    rate: number;
    tools?: number;
    apply?: number;
    searched?: number;
    rounds: number;
  }>();

const say = (name: string, figures: object): void =>
  void process.stdout.write(`${JSON.stringify({ figures: name, ...figures })}\n`);

/** For the garbage of the load to be collected. */
const REST_MS = 15_000;

/**
 * V8 keeps the young generation at the size that traffic made it grow to, up to 64 MB, whatever the server holds. The same
 * reads before each measurement take that out of the comparison.
 */
const readSome = (api: ApiClient, workflow: string): Promise<void> =>
  inParallel(10_000, async () => void (await api.expect(200, 'GET', `/v1/workflows/${workflow}`)), 64);

const waits = (ms: string): string => `export default { run({ event, $ }) { $.flow.delay(${ms}) } }`;
const NOW = 'export default { run() { return Date.now() } }';

const measureWaiting = async (count: number): Promise<void> => {
  const installation = await openSluice({ readyTimeoutMs: 120_000, env: { SLUICE_WAITING_RUNS: String(count) } });
  const { server, api, parts, restart } = installation;
  try {
    const workflow = await deployWorkflow(api, [waits('3_600_000'), NOW]);
    await hitWith(workflow.url, { n: 0 });
    await eventually('one run waits', async () =>
      (await totalRuns(api, workflow.id, 'waiting')) === 1 ? true : undefined,
    );
    const idleReadyMs = await restart();
    await readSome(api, workflow.id);
    await pause(REST_MS);
    const memory = (): number => parts().reduce((sum, { pid }) => sum + treeUsage(pid).mainRssMb, 0);
    const [idleMb, idleDiskMb] = [memory(), dirMb(server.dataDir)];
    const began = performance.now();
    // The port has changed with the restart.
    const url = server.url + new URL(workflow.url).pathname;
    await inParallel(count - 1, async (n) => void (await hitWith(url, { n })), 64);
    const secondsToBegin = (performance.now() - began) / 1_000;
    await eventually(
      'no run is about to wait',
      async () => {
        const [queued, running] = await Promise.all([
          totalRuns(api, workflow.id, 'queued'),
          totalRuns(api, workflow.id, 'running'),
        ]);
        return queued + running === 0 ? true : undefined;
      },
      300_000,
      500,
    );
    await pause(REST_MS);
    const [loadedMb, diskMb] = [memory(), dirMb(server.dataDir)];
    const readyMs = await restart();
    await readSome(api, workflow.id);
    await pause(REST_MS);
    say('waiting', {
      runs: count,
      secondsToBegin,
      idleMb,
      loadedMb,
      restartedMb: memory(),
      diskMb: diskMb - idleDiskMb,
      idleReadyMs,
      readyMs,
    });
  } finally {
    await installation.close();
  }
};

/** All waits end at one moment. A run tells when its next step ran. */
const measureDue = async (count: number): Promise<void> => {
  const installation = await openSluice();
  const { api } = installation;
  try {
    const workflow = await deployWorkflow(api, [waits('event.body.at - Date.now()'), NOW]);
    const at = Date.now() + 10_000 + count * 5;
    const ids: string[] = [];
    await inParallel(count, async () => void ids.push(await hitWith(workflow.url, { at })), 64);
    if (Date.now() > at) throw new Error('the runs took too long to begin');
    await pause(at - Date.now());
    const late = await Promise.all(ids.map(async (id) => (await endedRun(api, id)) - at));
    late.sort((a, b) => a - b);
    say('due', { runs: count, earliestMs: late[0], medianMs: late[Math.floor(count / 2)], latestMs: late.at(-1) });
  } finally {
    await installation.close();
  }
};

const endedRun = (api: ApiClient, id: string): Promise<number> =>
  eventually(
    `run ${id} has ended`,
    async () => {
      const { body } = await api.call<Data<Run>>('GET', `/v1/runs/${id}`);
      const at = body.data.steps[1]?.exports?.['$return_value'];
      return body.data.state === 'succeeded' ? Number(at) : undefined;
    },
    60_000,
    500,
  );

interface Run {
  readonly state: string;
  readonly steps: readonly { readonly exports: Readonly<Record<string, unknown>> | null }[];
}

const QUIET_RATE = 10;

/** The quiet workflow by itself, and beside one that 64 connections keep busy. */
const measureNoisy = async (seconds: number): Promise<void> => {
  const installation = await openSluice();
  const quietLoad = await PartProcess.start<GeneratorApi>('./load-generator.js');
  const noisyLoad = await PartProcess.start<GeneratorApi>('./load-generator.js');
  try {
    const [quiet, noisy] = [
      await deployWorkflow(installation.api, [ANSWERS], 'custom'),
      await deployWorkflow(installation.api, [ANSWERS], 'custom'),
    ];
    const shape = { run: 1, durationMs: seconds * 1_000, warmUpMs: 2_000, client: 'raw' as const };
    const quietly = { ...shape, urls: [quiet.url], connections: 4, rate: QUIET_RATE };
    const alone = await quietLoad.call('load', quietly);
    const [beside, busy] = await Promise.all([
      quietLoad.call('load', { ...quietly, run: 2 }),
      noisyLoad.call('load', { ...shape, urls: [noisy.url], connections: 64 }),
    ]);
    const { p50, p99, max } = beside.answerMs;
    say('noisy', {
      noisyPerSecond: Math.round(busy.acknowledged / (seconds + 2)),
      aloneMs: { p50: alone.answerMs.p50, p99: alone.answerMs.p99 },
      besideMs: { p50, p99, max },
      failed: beside.failed + beside.refused,
    });
  } finally {
    await noisyLoad.stop();
    await quietLoad.stop();
    await installation.close();
  }
};

const rounds = async (measure: () => Promise<void>): Promise<void> => {
  for (let round = 1; round <= options.rounds; round++) await measure();
};

const { waiting, due, listed, noisy, items, bulk, rate, tools, apply, searched } = options;
say('machine', await describeMachine());
if (waiting !== undefined) await measureWaiting(waiting);
if (due !== undefined) await rounds(() => measureDue(due));
if (listed !== undefined) say('listed', await listFigures(listed));
if (noisy !== undefined) await rounds(() => measureNoisy(noisy));
if (items !== undefined)
  await rounds(async () => {
    for (const concurrency of [1, 10]) say('items', await loopFigures(items, concurrency));
  });
if (bulk !== undefined) say('bulk', await bulkFigures(bulk, rate));
if (tools !== undefined) say('tools', await toolFigures(tools));
if (apply !== undefined) say('apply', await applyFigures(apply));
if (searched !== undefined) say('searched', await searchFigures(searched));
