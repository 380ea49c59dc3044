import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { request } from 'undici';
import { endpointOf } from '#test/harness/api-client.js';
import { CLI, runNode } from '#test/harness/command-line.js';
import { DevSession } from '#test/harness/dev-session.js';
import { endsWithUs, exitOnSignals } from '#test/harness/ends-with-us.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { describeMachine } from './machine.js';
import { treeUsage } from './process-tree.js';
import { openSluice, RELAY_COMPONENT } from './targets.js';

/** What the command line costs its user. Prints one line of JSON for each figure. */

exitOnSignals();

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const options = new Command('bench:cli')
  .description(
    'Measures the command line: its start, a list, tests, saves, a follower and the first event of a folder.',
  )
  .option('--starts <n>', 'runs of --version and of list', whole, 20)
  .option('--tests <n>', 'files of tests in a folder', whole, 10)
  .option('--saves <n>', 'saves of a file before sluice dev', whole, 20)
  .option('--follow <seconds>', 'of events -f', whole, 600)
  .option('--rate <n>', 'events a second before events -f', whole, 100)
  .option('--rounds <n>', 'of the tests, and of the first event', whole, 3)
  .parse()
  .opts<Readonly<Record<'starts' | 'tests' | 'saves' | 'follow' | 'rate' | 'rounds', number>>>();

const say = (name: string, figures: object): void =>
  void process.stdout.write(`${JSON.stringify({ figures: name, ...figures })}\n`);

/** Milliseconds of `act`, so many times, in order. */
const times = async (count: number, act: () => Promise<unknown>): Promise<readonly number[]> => {
  const taken: number[] = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    await act();
    taken.push(performance.now() - began);
  }
  return taken.sort((a, b) => a - b);
};

const medianOf = (sorted: readonly number[]): number => Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
const spread = (sorted: readonly number[]) => ({
  medianMs: medianOf(sorted),
  slowestMs: Math.round(sorted.at(-1) ?? 0),
});

const variables = (more: NodeJS.ProcessEnv, home: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: home,
  CI: '1',
  ...more,
});

const succeed = async (args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<string> => {
  const { status, stdout, stderr } = await runNode(args, env, cwd);
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
};

const measureStarts = async (dir: string): Promise<void> => {
  const env = variables({}, dir);
  const node = await times(options.starts, () => succeed(['-e', '0'], env, dir));
  const version = await times(options.starts, () => succeed([CLI, '--version'], env, dir));
  say('version', { runs: options.starts, ...spread(version), nodeAloneMs: medianOf(node) });
};

const measureList = async (dir: string): Promise<void> => {
  const installation = await openSluice();
  try {
    const { server, api } = installation;
    await api.createSource({ component_code: RELAY_COMPONENT });
    const env = variables({ SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url }, dir);
    const list = await times(options.starts, () => succeed([CLI, 'list', '--json'], env, dir));
    const asked = await times(options.starts, () => api.expect(200, 'GET', '/v1/users/me/sources'));
    const requestMs = medianOf(asked);
    say('list', { runs: options.starts, ...spread(list), requestMs, beyondMs: medianOf(list) - requestMs });
  } finally {
    await installation.close();
  }
};

const measureTests = async (dir: string): Promise<void> => {
  const env = variables({}, dir);
  for (let n = 0; n < options.tests; n++)
    await succeed([CLI, 'init', 'source', `source-${n}`, '--http', '--db'], env, dir);
  const taken = await times(options.rounds, () => succeed([CLI, 'test'], env, dir));
  say('test', { files: options.tests, rounds: options.rounds, ...spread(taken) });
};

/** From the write of a file to the line that tells that the new code is in force. */
const measureSaves = async (dir: string): Promise<void> => {
  const file = join(dir, 'hello.mjs');
  writeFileSync(file, RELAY_COMPONENT);
  const session = new DevSession(dir, ['hello.mjs']);
  try {
    await session.next('ready');
    const taken: number[] = [];
    for (let n = 1; n <= options.saves; n++) {
      // The former component is deleted at the same time.
      await pause(500);
      const writtenAt = Date.now();
      writeFileSync(file, `${RELAY_COMPONENT}// save ${n}\n`);
      taken.push(Number((await session.next('updated', n))['at']) - writtenAt);
    }
    taken.sort((a, b) => a - b);
    const p95 = taken[Math.ceil(taken.length * 0.95) - 1] ?? 0;
    say('save', { saves: taken.length, ...spread(taken), p95Ms: Math.round(p95) });
  } finally {
    await session.end();
  }
};

/** Lines of a process, as they come. */
const linesOf = (child: ChildProcess, taken: (line: string) => void): void => {
  if (child.stdout) createInterface({ input: child.stdout }).on('line', taken);
};

const SAMPLE_MS = 10_000;

const measureFollow = async (dir: string): Promise<void> => {
  const installation = await openSluice();
  try {
    const { server, api } = installation;
    const source = await api.createSource({ component_code: RELAY_COMPONENT });
    const env = variables({ SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url }, dir);
    const child = spawn(process.execPath, [CLI, 'events', source.id, '-f', '-n', '1'], {
      cwd: dir,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    endsWithUs(child);
    let printed = 0;
    linesOf(child, () => printed++);
    const url = endpointOf(server, source);
    const post = async (): Promise<void> => {
      const body = JSON.stringify({ at: Date.now(), text: 'x'.repeat(1_000) });
      const reply = await request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      await reply.body.dump();
    };
    while (printed === 0) {
      await post();
      await pause(500);
    }
    // Those before it was connected.
    await pause(2_000);
    printed = 0;
    let sent = 0;
    const samples: number[] = [];
    const began = performance.now();
    for (let next = SAMPLE_MS; performance.now() - began < options.follow * 1_000;) {
      const due = Math.floor(((performance.now() - began) / 1_000) * options.rate);
      await Promise.all(Array.from({ length: due - sent }, post));
      sent = due;
      if (performance.now() - began >= next) {
        samples.push(Math.round(treeUsage(child.pid ?? 0).mainRssMb));
        next += SAMPLE_MS;
      }
      await pause(10);
    }
    await pause(2_000);
    child.kill('SIGINT');
    await once(child, 'exit');
    const [firstMb, lastMb, mostMb] = [samples[0], samples.at(-1), Math.max(...samples)];
    say('follow', { seconds: options.follow, rate: options.rate, sent, printed, firstMb, lastMb, mostMb });
  } finally {
    await installation.close();
  }
};

/** From an empty folder: `sluice init`, `sluice dev`, and a request to the address that it tells. */
const firstEvent = async (): Promise<Readonly<Record<string, number>>> => {
  const dir = tempDir('first-event');
  const env = variables({}, dir);
  const began = performance.now();
  const since = (): number => Math.round(performance.now() - began);
  await succeed([CLI, 'init', 'source', 'hello', '--http'], env, dir);
  const initMs = since();
  const child = spawn(process.execPath, [CLI, 'dev', 'hello/hello.mjs', '--json'], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endsWithUs(child);
  try {
    const told = new Map<string, number>();
    linesOf(child, (line) => {
      const { type, url } = JSON.parse(line) as { type: string; url?: string };
      if (!told.has(type)) told.set(type, since());
      if (type === 'ready' && url) void request(url, { method: 'POST' }).then(({ body }) => body.dump());
    });
    while (!told.has('emit') && child.exitCode === null) await pause(5);
    return { initMs, readyMs: told.get('ready') ?? Number.NaN, eventMs: told.get('emit') ?? Number.NaN };
  } finally {
    child.kill('SIGINT');
    if (child.exitCode === null) await once(child, 'exit');
    removeDir(dir);
  }
};

const inFolder = async (measure: (dir: string) => Promise<void>): Promise<void> => {
  const dir = tempDir('cli-bench');
  try {
    await measure(dir);
  } finally {
    removeDir(dir);
  }
};

say('machine', await describeMachine());
await inFolder(measureStarts);
await inFolder(measureList);
await inFolder(measureTests);
await inFolder(measureSaves);
for (let n = 0; n < options.rounds; n++) say('first event', { steps: 3, ...(await firstEvent()) });
await inFolder(measureFollow);
