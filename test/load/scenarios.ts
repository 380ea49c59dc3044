import { existsSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { measureManySources, type ManySourcesFigures } from './many-sources.js';
import { measure, type Figures, type LoadShape, type Rig } from './measure.js';
import { measureMemory, median, type MemoryFigures } from './memory.js';
import { type ClientKind } from './parts.js';
import { measureStart, type StartFigures } from './startup.js';
import { startFloor, startSluice, type SluiceTarget, type Target } from './targets.js';

export const SCENARIOS = [
  'startup',
  'steady',
  'saturation',
  'overload',
  'memory',
  'sources',
  'engine',
  'routing',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

export interface Plan {
  readonly scenarios: readonly Scenario[];
  readonly targets: readonly Target['name'][];
  /** Seconds of each measurement. */
  readonly duration: number;
  readonly memoryDuration: number;
  readonly rounds: number;
  /** Events per second of the open loop. */
  readonly rate: number;
  readonly connections: number;
  readonly sources: number;
  readonly client: ClientKind;
}

export interface Results {
  readonly startup: readonly StartFigures[];
  readonly steady: readonly Figures[];
  readonly saturation: readonly Figures[];
  readonly overload: readonly Figures[];
  readonly memory?: MemoryFigures;
  /** `/metrics` of Sluice after the loads. */
  readonly metrics?: string;
  readonly sources?: ManySourcesFigures;
  /** Output of the micro-benchmarks of engine and routing. */
  readonly engine?: string;
  readonly routing?: string;
}

const WARM_UP_MS = 3_000;
const IDLE_MS = 5_000;
/** The open loop may have this many requests out before it has to queue. */
const OPEN_LOOP_CONNECTIONS = 256;
const OVERLOAD = 1.5;

type Say = (line: string) => void;

export const runPlan = async (plan: Plan, rig: Rig, say: Say): Promise<Results> => {
  const has = (name: Scenario): boolean => plan.scenarios.includes(name);
  const startup: StartFigures[] = [];
  if (has('startup')) {
    for (let round = 1; round <= plan.rounds; round++) {
      startup.push(await measureStart(IDLE_MS));
      say(`startup   round ${round}: ${JSON.stringify(startup.at(-1))}`);
    }
  }
  const loads = await runLoads(plan, rig, say);
  const wantsSources = has('sources') && plan.targets.includes('Sluice');
  const sources = wantsSources ? await measureManySources(rig.sink, plan.sources) : undefined;
  if (sources) say(`sources   ${sources.sources} deployed in ${sources.seconds.toFixed(1)} s`);
  const engine = has('engine') ? await microBenchmark('./engine-bench.js', say) : undefined;
  const routing = has('routing') ? await microBenchmark('./routing-bench.js', say) : undefined;
  return {
    startup,
    ...loads,
    ...(sources ? { sources } : {}),
    ...(engine === undefined ? {} : { engine }),
    ...(routing === undefined ? {} : { routing }),
  };
};

/** Floor and Sluice side by side, measured in turns, so that what the machine does meanwhile meets both. */
const runLoads = async (
  plan: Plan,
  rig: Rig,
  say: Say,
): Promise<Pick<Results, 'steady' | 'saturation' | 'overload' | 'memory' | 'metrics'>> => {
  const results = { steady: [] as Figures[], saturation: [] as Figures[], overload: [] as Figures[] };
  const running: Target[] = [];
  try {
    if (plan.targets.includes('floor')) running.push(await startFloor(rig.sink.url));
    const sluice = plan.targets.includes('Sluice') ? await startSluice(rig.sink.url) : undefined;
    if (sluice) running.push(sluice);
    for (let round = 1; round <= plan.rounds; round++) {
      const order = round % 2 === 1 ? running : [...running].reverse();
      for (const target of order) await measureRound(plan, rig, target, round, results, say);
    }
    const memory = sluice && plan.scenarios.includes('memory') ? await minutes(plan, rig, sluice, say) : undefined;
    const metrics = sluice ? (await sluice.api.call('GET', '/metrics')).text : undefined;
    return { ...results, ...(memory ? { memory } : {}), ...(metrics === undefined ? {} : { metrics }) };
  } finally {
    for (const target of running.reverse()) await target.stop();
  }
};

const measureRound = async (
  plan: Plan,
  rig: Rig,
  target: Target,
  round: number,
  results: { steady: Figures[]; saturation: Figures[]; overload: Figures[] },
  say: Say,
): Promise<void> => {
  const timed = { durationMs: plan.duration * 1000, warmUpMs: WARM_UP_MS, client: plan.client };
  const take = async (name: 'steady' | 'saturation' | 'overload', shape: LoadShape): Promise<void> => {
    if (!plan.scenarios.includes(name)) return;
    const figures = await measure(rig, target, shape);
    results[name].push(figures);
    say(`${name.padEnd(10)}round ${round} ${target.name.padEnd(7)}${oneLine(figures)}`);
  };
  await take('steady', { ...timed, connections: OPEN_LOOP_CONNECTIONS, rate: plan.rate });
  await take('saturation', { ...timed, connections: plan.connections });
  const saturated = results.saturation.filter((figures) => figures.target === target.name);
  if (saturated.length === 0) return;
  const rate = Math.round(median(saturated.map((figures) => figures.deliveredPerSecond)) * OVERLOAD);
  await take('overload', { ...timed, connections: OPEN_LOOP_CONNECTIONS, rate });
};

const minutes = async (plan: Plan, rig: Rig, target: SluiceTarget, say: Say): Promise<MemoryFigures> => {
  const durationMs = plan.memoryDuration * 1000;
  const memory = await measureMemory(rig, target, {
    durationMs,
    warmUpMs: WARM_UP_MS,
    connections: plan.connections,
    client: plan.client,
  });
  say(`memory    ${plan.memoryDuration} s: ${memory.mbPerMinute.toFixed(1)} MB a minute, ${oneLine(memory.figures)}`);
  return memory;
};

const microBenchmark = async (module: string, say: Say): Promise<string | undefined> => {
  const file = fileURLToPath(new URL(module, import.meta.url));
  if (!existsSync(file)) {
    say(`${module} is not built: left out`);
    return undefined;
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', file], {
    timeout: 600_000,
    maxBuffer: 10_000_000,
  });
  say(stdout.trimEnd());
  return stdout.replace(/^\n+/, '').trimEnd();
};

const oneLine = (figures: Figures): string =>
  `${figures.deliveredPerSecond.toFixed(0)}/s, ${figures.cpuUsPerEvent.toFixed(0)} µs CPU an event, end to end p50 ` +
  `${figures.endToEndMs.p50.toFixed(1)} p99 ${figures.endToEndMs.p99.toFixed(1)} ms, lost ${figures.lost}, ` +
  `duplicates ${figures.duplicates}, refused ${figures.refused}, failed ${figures.failed}`;
