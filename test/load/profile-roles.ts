import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { describeMachine } from './machine.js';
import { measure, type Figures, type Rig } from './measure.js';
import { PartProcess } from './part-process.js';
import { type GeneratorApi, type SinkApi } from './parts.js';
import { IDLE, PROFILER, timeByArea, timeByFunction, type AreaTime, type CpuProfile } from './profile-areas.js';
import { inSources } from './profile-sources.js';
import { startRoles, type RolesTarget } from './roles-target.js';

exitOnSignals();

/** Shows the CPU time of each role at saturation: a V8 profile of each, summed by package and folder. */

const number = (text: string): number => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('a number above 0 is needed');
  return Number(text);
};

const options = new Command('profile-roles')
  .description('Profiles every role while one source is saturated; writes a Markdown table.')
  .option('--duration <seconds>', 'of the profile', number, 10)
  .option('--rate <events/s>', 'open loop instead of saturation', number)
  .option('--connections <n>', 'of the load', number, 64)
  .option('--emitters <n>', 'sources that the load is spread over', number, 1)
  .option('--functions <n>', 'of each role, those that take most time', number, 6)
  .option('--keep <folder>', 'for the .cpuprofile files, to be opened in a browser')
  .option('--out <file>', 'Markdown')
  .parse()
  .opts<{
    readonly duration: number;
    readonly rate?: number;
    readonly connections: number;
    readonly emitters: number;
    readonly functions: number;
    readonly keep?: string;
    readonly out?: string;
  }>();

const WRITE_MS = 30_000;
/** Roles that an event passes. */
const ROLE_PARTS = ['ingress', 'runner', 'router', 'webhook-worker', 'projector'] as const;

interface RoleProfile {
  readonly role: string;
  readonly areas: readonly AreaTime[];
  readonly functions: readonly AreaTime[];
}

const profiled = async (roles: RolesTarget, rig: Rig, dir: string): Promise<Figures> => {
  const shape = {
    client: 'undici' as const,
    connections: options.connections,
    warmUpMs: 3_000,
    ...(options.rate === undefined ? {} : { rate: options.rate }),
  };
  await measure(rig, roles, { ...shape, durationMs: 15_000 });
  const toggle = (): void => roles.deployment.all.forEach(({ pid }) => process.kill(pid, 'SIGUSR2'));
  const measuring = measure(rig, roles, { ...shape, durationMs: options.duration * 1_000 });
  await pause(shape.warmUpMs);
  toggle();
  await pause(options.duration * 1_000);
  toggle();
  const figures = await measuring;
  const until = performance.now() + WRITE_MS;
  while (readProfiles(dir).length < roles.deployment.all.length && performance.now() < until) await pause(100);
  return figures;
};

/** Reads the profiles that are complete. */
const readProfiles = (dir: string): readonly { readonly role: string; readonly profile: CpuProfile }[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => ({ role: name.replace(/-\d+\.cpuprofile$/, ''), text: readFileSync(join(dir, name), 'utf8') }))
    .filter(({ text }) => text.endsWith('}'))
    .map(({ role, text }) => ({ role, profile: inSources(JSON.parse(text) as CpuProfile) }));

const rolesIn = (dir: string): readonly RoleProfile[] => {
  const known = readProfiles(dir);
  return ROLE_PARTS.flatMap((role) => {
    const profile = known.find((each) => each.role === role)?.profile;
    return profile ? [{ role, areas: timeByArea(profile), functions: timeByFunction(profile) }] : [];
  });
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line), ''];
};

/** CPU µs per event of each area. The role's measured CPU time is divided in proportion to its samples. */
const areaTable = (profiles: readonly RoleProfile[], figures: Figures): string[] => {
  const cpuOf = (role: string): number => figures.parts.find(({ name }) => name === role)?.cpuUs ?? 0;
  const columns = profiles.map(({ role, areas }) => {
    const busy = areas.filter(({ area }) => area !== IDLE && area !== PROFILER);
    const all = busy.reduce((sum, { us }) => sum + us, 0);
    return { role, us: new Map(busy.map(({ area, us }) => [area, (us / all) * cpuOf(role)])) };
  });
  const names = [...new Set(columns.flatMap(({ us }) => [...us.keys()]))];
  const total = (name: string): number => columns.reduce((sum, { us }) => sum + (us.get(name) ?? 0), 0);
  const rows = names
    .sort((a, b) => total(b) - total(a))
    .map((name) => [name, ...columns.map(({ us }) => (us.get(name) ?? 0).toFixed(0)), total(name).toFixed(0)]);
  const sums = ['all', ...columns.map(({ role }) => cpuOf(role).toFixed(0))];
  sums.push(columns.reduce((sum, { role }) => sum + cpuOf(role), 0).toFixed(0));
  const idle = profiles.map(({ areas }) => {
    const all = areas.reduce((sum, { us }) => sum + us, 0);
    return `${(((areas.find(({ area }) => area === IDLE)?.us ?? 0) / all) * 100).toFixed(0)} %`;
  });
  const head = ['CPU µs an event', ...columns.map(({ role }) => role), 'sum'];
  return table(head, [...rows, sums, ['main thread idle', ...idle, '']]);
};

const functionTable = (profiles: readonly RoleProfile[]): string[] =>
  profiles.flatMap(({ role, functions }) => {
    const busy = functions.filter(({ area }) => !area.startsWith('(idle)') && area.trim() !== 'dispatch');
    const all = busy.reduce((sum, { us }) => sum + us, 0);
    const rows = busy
      .slice(0, options.functions)
      .map(({ area, us }) => [`\`${area}\``, `${((us / all) * 100).toFixed(1)} %`]);
    return [`### ${role}`, '', ...table(['function', 'of its busy time'], rows)];
  });

const profile = async (): Promise<void> => {
  const dir = options.keep === undefined ? tempDir('profiles') : resolve(options.keep);
  mkdirSync(dir, { recursive: true });
  const machine = await describeMachine();
  const rig: Rig = {
    sink: await PartProcess.start<SinkApi>('./sink.js'),
    generator: await PartProcess.start<GeneratorApi>('./load-generator.js'),
  };
  try {
    const env = { NODE_OPTIONS: `--import ${new URL('./profiler.js', import.meta.url).href}`, BENCH_PROFILE_DIR: dir };
    const engines = { kafkaHeapMb: 512, kafkaFlush: true };
    const roles = await startRoles(rig.sink.url, { ...engines, copies: {}, emitters: options.emitters, env });
    let figures: Figures;
    try {
      figures = await profiled(roles, rig, dir);
    } finally {
      await roles.stop();
    }
    const profiles = rolesIn(dir);
    const load =
      options.rate === undefined ? `${options.connections} connections, closed loop` : `${options.rate} events/s`;
    const text = [
      `# Profile by role, ${machine.date.slice(0, 10)}`,
      '',
      `Commit ${machine.commit}, Node ${machine.node}, ${machine.cores} × ${machine.cpu}; load average before the start ${machine.loadBefore}. ` +
        `${load}, ${options.emitters} source(s), ${options.duration} s: ${figures.deliveredPerSecond.toFixed(0)} delivered/s. ` +
        'Self time of the main thread sampled every 0.5 ms, idle time left out, scaled to the CPU time that the process used ' +
        '(all threads, with the cost of sampling).',
      '',
      ...areaTable(profiles, figures),
      ...functionTable(profiles),
    ].join('\n');
    process.stdout.write(`${text}\n`);
    if (options.out === undefined) return;
    const file = resolve(ROOT, options.out);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } finally {
    await rig.generator.stop();
    await rig.sink.stop();
    if (options.keep === undefined) removeDir(dir);
  }
};

await profile();
