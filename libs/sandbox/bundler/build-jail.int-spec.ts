import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { AskedProcess } from '../host/asked-process.js';
import { DEFAULT_JAIL_LIMITS, JailLauncher } from '../host/jail-launcher.js';
import { tryLevel } from '../jail/detect.js';
import { type JailLevel, type JailName } from '../jail/jail-level.js';
import { bundlerCases } from '../testing/bundler.suite.js';
import { BuildJail } from './build-jail.js';
import { encodeBuild, encodeOrder, parseReply, type BuildReply } from './build-message.js';
import { compile } from './compile.js';
import { componentFilesOf } from './component-files.js';
import { engineFor } from './engine-files.js';
import { noPackages } from './packages.js';

const NAMES: readonly JailName[] = ['jail (bwrap)', 'jail (unshare)', 'process'];
const available = new Map<JailName, JailLevel>();
for (const name of NAMES) {
  const level = await tryLevel(name);
  if (typeof level === 'string') process.stderr.write(`skipped: ${name} cannot run here: ${level}\n`);
  else available.set(name, level);
}

const jails = [...available.values()].filter(({ name }) => name !== 'process');

const IN = { workspaceId: 'o_1' };

/** Imports every file of a folder as text, by a pattern. esbuild resolves it from its working folder, not by plugin. */
const readsFolder = (folder: string, ending = '.key'): string =>
  `const q = process.argv[9];
   export default { name: 'n', text: import(\`${'../'.repeat(20)}${folder}\${q}${ending}\`, { with: { type: 'text' } }) }`;
/** Expression whose levels the parser each tries twice. */
const exponential = `export default ${'a?(b):c=>'.repeat(24)}d${':e'.repeat(24)}`;

describe.each([...available.values()])('the build jail in $name', (level) => {
  const isJail = level.name !== 'process';
  let builds: BuildJail;
  let patient: BuildJail;
  let secretDir: string;
  /** Source of the current case, so that all cases share the process that is started ahead. */
  let source = noPackages;

  beforeAll(async () => {
    builds = new BuildJail({ level, packages: { install: (request) => source.install(request) } });
    patient = new BuildJail({ level, limits: { timeoutMs: 60_000 } });
    secretDir = await mkdtemp(path.join(tmpdir(), 'sluice-secret-'));
    await writeFile(path.join(secretDir, 'host.key'), 'the secret of the host');
  });
  afterAll(async () => {
    await builds.close();
    await patient.close();
    await rm(secretDir, { recursive: true, force: true });
  });

  const bundle = async (code: string, fileName = 'component.mjs') =>
    (await builds.bundle({ code, fileName }, IN)).bundle;
  const expectOthersUnharmed = async (): Promise<void> => {
    expect(await bundle('export default { name: "unharmed" }')).toContain('unharmed');
  };

  // The second kind of jail runs the same program of esbuild as the first one.
  if (level !== jails[1]) {
    bundlerCases({
      bundle: async (input) => (await builds.bundle(input, IN)).bundle,
      bundleWith: async (input, packages) => {
        source = packages;
        return builds.bundle(input, IN).finally(() => (source = noPackages));
      },
    });
  }

  /** Builds like the server, but without the refusal of patterns. */
  const rawBuild = async (code: string): Promise<BuildReply> => {
    const house = new JailLauncher(level, { ...DEFAULT_JAIL_LIMITS, memoryMb: 512, tmpMb: 16 }, 'build');
    const engine = engineFor(isJail);
    const reads = [{ from: await house.readable(engine.file), to: '/esbuild' }];
    const child = await AskedProcess.start(house, { reads, startsPrograms: engine.kind === 'native' });
    const { tmp, reads: seen } = child.plan;
    const load = encodeOrder({ t: 'load', engine: engine.kind, file: seen[0] ?? '', tmp });
    expect(await child.ask(load, 30_000, parseReply)).toMatchObject({ answer: { kind: 'loaded' } });
    const settings = { packages: null, bundleBytes: 1e6, refusePatterns: false };
    const outcome = await child.ask(encodeBuild(componentFilesOf({ code }), settings), 30_000, parseReply);
    child.kill();
    await child.ended;
    await house.close();
    if (outcome.kind !== 'answer') throw new Error(`the build process gave no answer: ${outcome.kind}`);
    return outcome.answer;
  };
  const textOf = (reply: BuildReply): string =>
    reply.kind === 'bundle' ? reply.bundle.toString('utf8') : JSON.stringify(reply);

  it('contains no file of the host, even when an import by a pattern is allowed', async () => {
    const code = readsFolder(`${secretDir.slice(1)}/`);
    const files = componentFilesOf({ code });
    const unprotected = await compile(esbuild, {
      files,
      packages: null,
      shims: {},
      refusePatterns: false,
      bundleBytes: 1e6,
    });
    expect(textOf(unprotected)).toContain('the secret of the host');

    const jailed = textOf(await rawBuild(code));
    expect(jailed).not.toContain('the secret of the host');
    expect(jailed).not.toContain('host.key');
  });

  it.each(['etc/', 'proc/self/', 'proc/1/', 'root/', 'home/', 'var/', 'usr/', 'tmp/'])(
    'finds nothing in %s',
    async (folder) => {
      const reply = await rawBuild(readsFolder(folder, ''));
      const inputs = reply.kind === 'bundle' ? reply.inputs : [];
      expect(inputs.filter((input) => input !== 'component:component.mjs')).toEqual([]);
    },
  );

  const shows = isJail ? it : it.skip;
  shows('shows to the same pattern what it holds itself (at the level process: nothing)', async () => {
    const reply = await rawBuild(readsFolder('', '.cjs'));
    expect(reply).toMatchObject({
      kind: 'bundle',
      inputs: [expect.stringMatching(/\/child\.cjs$/), 'component:component.mjs'],
    });
  });

  it('refuses such an import with a text that names no path of the host', async () => {
    const error: unknown = await bundle(readsFolder(`${secretDir.slice(1)}/`)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'component.invalid',
      message: expect.stringContaining('component.mjs:2:45: import() builds the path of a file from parts'),
    });
    expect(String(error)).not.toContain(secretDir);
    const anything: unknown = await bundle('const q = 1; import(`./${q}`)').catch((reason: unknown) => reason);
    expect(anything).toMatchObject({ code: 'component.invalid', message: expect.stringContaining('builds the path') });
  });

  it('evaluates nothing of the component', async () => {
    const code = `require('fs').writeFileSync('/tmp/ran', ''); process.exit(3); export default { name: 'n' }`;
    expect(await bundle(code)).toContain('process.exit(3)');
  });

  it.each([
    ['a million brackets', '['.repeat(1e6)],
    ['a million parentheses that close', `export default ${'('.repeat(1e6)}1${')'.repeat(1e6)}`],
    ['a hundred thousand arrows', `export default ${'()=>'.repeat(1e5)}1`],
    ['an import of every device', readsFolder('dev/', '')],
    ['half a million negations', `export default ${'!'.repeat(5e5)}1`],
  ])(
    'ends no other build because of %s',
    async (_what, code) => {
      const error: unknown = await patient.bundle({ code }, IN).catch((reason: unknown) => reason);
      if (error instanceof Error) expect(error).toMatchObject({ code: 'component.invalid' });
      else expect(typeof error).toBe('string');
      await expectOthersUnharmed();
    },
    90_000,
  );

  it('names the memory limit that a build exceeded', async () => {
    const own = new BuildJail({ level, limits: { memoryMb: 64, timeoutMs: 60_000 } });
    const error: unknown = await own.bundle({ code: '['.repeat(1e6) }, IN).catch((reason: unknown) => reason);
    await own.close();
    expect(error).toMatchObject({
      code: 'component.invalid',
      message: expect.stringContaining('more memory than the limit of 64 MB'),
      details: { name: 'OutOfMemory' },
    });
  }, 90_000);

  it('ends a TypeScript expression that takes exponential time, and builds others meanwhile', async () => {
    expect(exponential.length).toBeLessThan(300);
    const own = new BuildJail({ level, limits: { timeoutMs: 1_500 } });
    // As JavaScript it is a plain syntax error, because the parser tries nothing twice.
    await expect(own.bundle({ code: exponential }, IN)).rejects.toMatchObject({ details: { name: 'SyntaxError' } });
    const hangs = own.bundle({ code: exponential, fileName: 'component.ts' }, IN).catch((reason: unknown) => reason);
    await expectOthersUnharmed();
    expect(await hangs).toMatchObject({
      code: 'component.invalid',
      message: expect.stringContaining('longer than the limit of 1500 ms'),
      details: { name: 'Timeout' },
    });
    await own.close();
  });

  it('bounds the size of the bundle', async () => {
    const own = new BuildJail({ level, limits: { bundleBytes: 10_000 } });
    const error: unknown = await own
      .bundle({ code: `export default '${'x'.repeat(20_000)}'` }, IN)
      .catch((reason: unknown) => reason);
    await own.close();
    expect(error).toMatchObject({ code: 'component.invalid', details: { name: 'OutputTooLarge' } });
    expect(String(error)).toMatch(/the bundle has 2\d{4} bytes, at most 10000 are allowed/);
  });

  it('bounds the list of errors', async () => {
    const code = Array.from({ length: 500 }, (_, i) => `import './missing${i}.mjs'`).join('\n');
    const error: unknown = await bundle(code).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'component.invalid' });
    expect(String(error).length).toBeLessThan(5_000);
  });
});
