import { existsSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { measureManySources, type ManySourcesFigures } from './many-sources.js';
import { measure, type Figures, type LoadShape, type Rig } from './measure.js';
import { measureMemory, median, type MemoryFigures } from './memory.js';
import { type ClientKind } from './parts.js';
import { openRoles, startRoles, type RolesOptions, type RolesStart } from './roles-target.js';
import { measureStart, type StartFigures } from './startup.js';
import {
  openSluice,
  startFloor,
  startSluice,
  startWorkflow,
  type ServingTarget,
  type Target,
  type TargetName,
} from './targets.js';

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
  readonly targets: readonly TargetName[];
  /** Duration of each measurement, s. */
  readonly duration: number;
  readonly memoryDuration: number;
  readonly rounds: number;
  /** Events per second of the open loop. */
  readonly rate: number;
  readonly connections: number;
  readonly sources: number;
  readonly client: ClientKind;
  /** Options of the target `roles`. */
  readonly roles: RolesOptions;
}

export interface Results {
  readonly startup: readonly StartFigures[];
  readonly steady: readonly Figures[];
  readonly saturation: readonly Figures[];
  readonly overload: readonly Figures[];
  readonly memory?: MemoryFigures;
  readonly rolesStart?: RolesStart;
  /** `/metrics` of Sluice after the loads. */
  readonly metrics?: string;
  readonly sources?: ManySourcesFigures;
  /** Output of the micro-benchmarks of engine and routing. */
  readonly engine?: string;
  readonly routing?: string;
}

const WARM_UP_MS = 3_000;
const ROLES_WARM_UP_MS = 15_000;
const IDLE_MS = 5_000;
/** Number of requests that the open loop may have outstanding before it queues. */
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
  const sources = has('sources') ? await manySources(plan, rig) : undefined;
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

const manySources = async (plan: Plan, { sink }: Rig): Promise<ManySourcesFigures | undefined> => {
  if (plan.targets.includes('roles')) return measureManySources(sink, await openRoles(plan.roles), plan.sources);
  return plan.targets.includes('Sluice') ? measureManySources(sink, await openSluice(), plan.sources) : undefined;
};

type Loads = Pick<Results, 'steady' | 'saturation' | 'overload' | 'memory' | 'metrics' | 'rolesStart'>;
type LoadFigures = Record<'steady' | 'saturation' | 'overload', Figures[]>;

/**
 * Measures floor and Sluice in turns, so that changes of the machine affect both. The roles come after them, alone on
 * the machine, because even idle they and their engines take a share of it.
 */
const runLoads = async (plan: Plan, rig: Rig, say: Say): Promise<Loads> => {
  const results: LoadFigures = { steady: [], saturation: [], overload: [] };
  const running: Target[] = [];
  let ofSluice: Partial<Loads> = {};
  try {
    if (plan.targets.includes('floor')) running.push(await startFloor(rig.sink.url));
    const sluice = plan.targets.includes('Sluice') ? await startSluice(rig.sink.url) : undefined;
    if (sluice) running.push(sluice);
    for (const name of ['workflow-1', 'workflow-10'] as const)
      if (plan.targets.includes(name)) running.push(await startWorkflow(rig.sink.url, name));
    for (let round = 1; round <= plan.rounds; round++) {
      const order = round % 2 === 1 ? running : [...running].reverse();
      for (const target of order) await measureRound(plan, rig, target, round, results, say);
    }
    const isLast = !plan.targets.includes('roles');
    if (sluice && isLast) ofSluice = await afterLoads(plan, rig, sluice, say);
  } finally {
    for (const target of running.reverse()) await target.stop();
  }
  const ofRoles = plan.targets.includes('roles') ? await runRoles(plan, rig, results, say) : {};
  return { ...results, ...ofSluice, ...ofRoles };
};

const runRoles = async (plan: Plan, rig: Rig, results: LoadFigures, say: Say): Promise<Partial<Loads>> => {
  const roles = await startRoles(rig.sink.url, plan.roles);
  try {
    say(`roles     started: ${JSON.stringify(roles.started)}`);
    // The broker's JVM compiles while it runs, so the first load is not counted.
    await measure(rig, roles, { ...timing(plan), durationMs: ROLES_WARM_UP_MS, connections: plan.connections });
    for (let round = 1; round <= plan.rounds; round++) await measureRound(plan, rig, roles, round, results, say);
    return { rolesStart: roles.started, ...(await afterLoads(plan, rig, roles, say)) };
  } finally {
    await roles.stop();
  }
};

const afterLoads = async (plan: Plan, rig: Rig, target: ServingTarget, say: Say): Promise<Partial<Loads>> => {
  const memory = plan.scenarios.includes('memory') ? await minutes(plan, rig, target, say) : undefined;
  const metrics = (await target.api.call('GET', '/metrics')).text;
  return { metrics, ...(memory ? { memory } : {}) };
};

const timing = ({ duration, client }: Plan): Pick<LoadShape, 'durationMs' | 'warmUpMs' | 'client'> => ({
  durationMs: duration * 1000,
  warmUpMs: WARM_UP_MS,
  client,
});

const measureRound = async (
  plan: Plan,
  rig: Rig,
  target: Target,
  round: number,
  results: LoadFigures,
  say: Say,
): Promise<void> => {
  const timed = timing(plan);
  const take = async (name: 'steady' | 'saturation' | 'overload', shape: LoadShape): Promise<void> => {
    if (!plan.scenarios.includes(name)) return;
    const figures = await measure(rig, target, shape);
    results[name].push(figures);
    say(`${name.padEnd(11)}round ${round} ${target.name.padEnd(7)}${oneLine(figures)}`);
  };
  await take('steady', { ...timed, connections: OPEN_LOOP_CONNECTIONS, rate: plan.rate });
  await take('saturation', { ...timed, connections: plan.connections });
  const saturated = results.saturation.filter((figures) => figures.target === target.name);
  if (saturated.length === 0) return;
  const rate = Math.round(median(saturated.map((figures) => figures.deliveredPerSecond)) * OVERLOAD);
  await take('overload', { ...timed, connections: OPEN_LOOP_CONNECTIONS, rate });
};

const minutes = async (plan: Plan, rig: Rig, target: ServingTarget, say: Say): Promise<MemoryFigures> => {
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
