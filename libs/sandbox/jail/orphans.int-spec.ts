import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import { bundleHere } from '../testing/bundle.js';
import { tryLevel } from './detect.js';
import { type JailName } from './jail-level.js';

const NAMES: readonly JailName[] = ['jail (bwrap)', 'jail (unshare)', 'process'];
const available: JailName[] = [];
for (const name of NAMES) {
  const level = await tryLevel(name);
  if (typeof level === 'string') process.stderr.write(`skipped: ${name} cannot run here: ${level}\n`);
  else available.push(name);
}

const sandbox = fileURLToPath(new URL('..', import.meta.url));

/** State and parent of a process, or undefined when it has ended. */
const statOf = async (pid: number): Promise<{ state: string; parent: number } | undefined> => {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    // The process has ended.
    return undefined;
  }
};

const descendants = async (root: number): Promise<number[]> => {
  const parents = new Map<number, number>();
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger)) {
    const stat = await statOf(pid);
    if (stat) parents.set(pid, stat.parent);
  }
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found.slice(1);
};

describe('a server that is killed', () => {
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
    const shared = {
      bundle: true,
      platform: 'node',
      target: 'node20',
      external: ['esbuild'],
    } satisfies BuildOptions;
    await build({
      ...shared,
      entryPoints: [path.join(sandbox, 'child/main.ts')],
      format: 'cjs',
      outfile: path.join(dir, 'child.cjs'),
    });
    const server = `
      import { createSandboxFactory } from ${JSON.stringify(path.join(sandbox, 'host/sandbox-factory.ts'))};
      import { tryLevel } from ${JSON.stringify(path.join(sandbox, 'jail/detect.ts'))};
      const [name, bundleFile] = process.argv.slice(2);
      const factory = createSandboxFactory({ level: await tryLevel(name) });
      const props = { http: { kind: 'http', endpoint: 'http://h/1' } };
      const sandbox = await factory.start({ sourceId: 'dc_1', workspaceId: 'o_1', bundleFile, props, db: {}, concurrency: 1 });
      await sandbox.run({ invocationId: 'i', event: '{}', timeoutMs: 600000, onImmediateResponse: () => process.stdout.write('hanging\\n') });`;
    await build({
      ...shared,
      stdin: { contents: server, resolveDir: dir, loader: 'ts' },
      format: 'esm',
      outfile: path.join(dir, 'server.mjs'),
    });
    await symlink(path.join(sandbox, '../../node_modules'), path.join(dir, 'node_modules'));
    const bundle = await bundleHere({
      code: `export default { name: 't', version: '1', run() { this.http.respond({ immediate: true }); for (;;); } }`,
    });
    await writeFile(path.join(dir, 'hang.cjs'), bundle);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it.each(available)('takes its components with it, even one that loops endlessly: %s', async (name) => {
    const server = spawn(process.execPath, [path.join(dir, 'server.mjs'), name, path.join(dir, 'hang.cjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, TMPDIR: dir },
    });
    await new Promise((resolve) => server.stdout.once('data', resolve));
    const jailed = await descendants(server.pid ?? 0);
    expect(jailed.length).toBeGreaterThan(0);
    server.kill('SIGKILL');
    await new Promise((resolve) => server.once('exit', resolve));
    // The adopting process may be slow to reap, so a zombie counts as ended.
    for (const pid of jailed)
      for (let stat = await statOf(pid); stat && stat.state !== 'Z'; stat = await statOf(pid))
        await new Promise(setImmediate);
  });
});
