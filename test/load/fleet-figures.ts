import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Source } from '#test/harness/api-client.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';
import { growthEach, type SampleBook } from './component-samples.js';
import { inParallel } from './many-sources.js';
import { totalOf, usageOf } from './part-usage.js';
import { treePssMb, type TreeUsage } from './process-tree.js';
import { type Probe } from './process-probe.js';
import { openSluice, RELAY_COMPONENT, type Installation } from './targets.js';

export interface FleetPlan {
  readonly sources: number;
  readonly warm: number;
  readonly rounds: number;
  readonly idleMs: number;
  /** Leaves out the warm sources, or the cost of the idle ones. */
  readonly parts: readonly ('memory' | 'idle')[];
}

const SETTLE_MS = 2_000;

interface Fleet extends Installation {
  readonly probe: () => Promise<Probe>;
  readonly usage: () => TreeUsage;
}

/** Opens a server that tells its memory and active resources on a signal. */
const withFleet = async (work: (fleet: Fleet) => Promise<void>): Promise<void> => {
  const dir = tempDir('probe');
  try {
    const loaded = new URL('./process-probe.js', import.meta.url).href;
    const installation = await openSluice({ env: { NODE_OPTIONS: `--import ${loaded}`, BENCH_PROBE_DIR: dir } });
    try {
      let count = 0;
      const probe = async (): Promise<Probe> => {
        const file = join(dir, `${++count}.json`);
        for (const { pid } of installation.parts()) process.kill(pid, 'SIGUSR2');
        await eventually('a probe', () => Promise.resolve(existsSync(file) ? true : undefined), 30_000);
        return JSON.parse(readFileSync(file, 'utf8')) as Probe;
      };
      await work({ ...installation, probe, usage: () => totalOf(usageOf(installation.parts())) });
    } finally {
      await installation.close();
    }
  } finally {
    removeDir(dir);
  }
};

/** CPU time of the server and its children while nothing happens, in µs a second. */
const idleCpu = async ({ usage }: Fleet, ms: number): Promise<number> => {
  const [before, startedAt] = [usage().cpuUs, performance.now()];
  await pause(ms);
  return (usage().cpuUs - before) / ((performance.now() - startedAt) / 1_000);
};

/** Deploys sources of one saved component and measures what they cost, idle and with some of them warm. */
export const measureFleet = (book: SampleBook, plan: FleetPlan): Promise<void> =>
  withFleet(async (fleet) => {
    const { api } = fleet;
    const component = await api.createComponent(RELAY_COMPONENT);
    const sources: Source[] = [];
    const deploy = (count: number): Promise<void> =>
      inParallel(count, async () => void sources.push(await api.createSource({ component_id: component.id })));
    // Caches and compiled code of the first ones are not a cost of each.
    await deploy(50);
    const steps = plan.parts.includes('idle') ? plan.rounds : 1;
    const perStep = Math.ceil((plan.sources - sources.length) / steps);
    for (let step = 0; step < steps; step++) {
      const count = Math.min(perStep, plan.sources - sources.length);
      await measureIdle(book, fleet, plan, count, () => deploy(count));
    }
    if (plan.parts.includes('memory')) await measureWarm(book, fleet, plan, sources);
  });

const measureIdle = async (
  book: SampleBook,
  fleet: Fleet,
  plan: FleetPlan,
  count: number,
  deploy: () => Promise<void>,
): Promise<void> => {
  if (!plan.parts.includes('idle')) return deploy();
  const add = (figure: string, unit: string, value: number): void => book.add('idle', figure, unit, value);
  const reading = async () => {
    await pause(SETTLE_MS);
    return { probe: await fleet.probe(), cpu: await idleCpu(fleet, plan.idleMs) };
  };
  const before = await reading();
  const startedAt = performance.now();
  await deploy();
  add('deploy of a saved component, four at a time', 'ms each', (performance.now() - startedAt) / count);
  const after = await reading();
  const each = (read: (probe: Probe) => number): number => growthEach(read(before.probe), read(after.probe), count);
  add(
    'heap',
    'bytes a source',
    each(({ heapBytes }) => heapBytes),
  );
  add(
    'memory outside the heap',
    'bytes a source',
    each(({ externalBytes }) => externalBytes),
  );
  add(
    'RSS of the server',
    'bytes a source',
    each(({ rssBytes }) => rssBytes),
  );
  add(
    'timers',
    'each source',
    each(({ timers }) => timers),
  );
  const types = new Set([before, after].flatMap(({ probe }) => Object.keys(probe.resources)));
  for (const type of types)
    add(
      `active ${type}`,
      'each source',
      each(({ resources }) => resources[type] ?? 0),
    );
  add('CPU while idle, fewer sources', 'µs/s', before.cpu);
  add('CPU while idle, more sources', 'µs/s', after.cpu);
  add('CPU while idle', 'µs/s a source', growthEach(before.cpu, after.cpu, count));
};

const measureWarm = async (
  book: SampleBook,
  fleet: Fleet,
  { sources: total, warm, rounds }: FleetPlan,
  sources: readonly Source[],
): Promise<void> => {
  const add = (figure: string, unit: string, value: number): void =>
    book.add('memory', `${total} sources, ${figure}`, unit, value);
  const idle = fleet.usage();
  add('none warm: RSS of the server', 'MB', idle.mainRssMb);
  add('none warm: RSS of all children', 'MB', idle.childrenRssMb);
  for (let round = 0; round < rounds; round++) {
    await inParallel(warm, async (n) => void (await fleet.api.runNow((sources[n] as Source).id, { body: { round } })));
    await pause(SETTLE_MS);
    const { processes, mainRssMb, childrenRssMb } = fleet.usage();
    add(`${warm} warm: RSS of the server`, 'MB', mainRssMb);
    add(`${warm} warm: RSS of all children`, 'MB', childrenRssMb);
    add(`${warm} warm: processes`, 'processes', processes);
    const pss = fleet.parts().reduce((sum, { pid }) => sum + treePssMb(pid), 0);
    add(`${warm} warm: PSS of all`, 'MB', pss);
  }
};
