import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

const sluice = (...args: readonly string[]): Promise<Told> => runNode([CLI, ...args], { PATH: process.env.PATH }, ROOT);

/** The numbers are those of the checks of the command line. */
// docs/reference/command-line.md#exits
describe('the shape of the command line', () => {
  it('2: lists its commands in groups', async () => {
    const { status, stdout, stderr } = await sluice();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const group of ['Develop', 'Use', 'Operate']) expect(stdout).toMatch(new RegExp(`^${group}:$`, 'm'));
    expect(stdout).toMatch(/^ {2}workflows +Checks/m);
    expect((await sluice('--help')).stdout).toBe(stdout);
    expect((await sluice('help')).stdout).toBe(stdout);
  });

  it('2: tells its version before it loads any command', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await sluice('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('3: asks for a newer Node in one line', async () => {
    const dir = tempDir('old-node');
    const file = join(dir, 'old.cjs');
    writeFileSync(
      file,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } });`,
    );
    const told = await runNode(['--require', file, CLI, 'list'], { PATH: process.env.PATH, HOME: dir }, dir);
    removeDir(dir);
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toMatch(
      /^sluice cannot start: it needs Node\.js 20\.19, [^\n]* is Node\.js 18\.20\.8\. [^\n]*\n$/,
    );
  });

  it('4: names the command that was meant', async () => {
    expect((await sluice('evnts')).stderr).toBe(
      'sluice: "evnts" is no command. Meant "events"? "sluice --help" lists them.\n',
    );
    expect(await sluice('workflow')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'sluice: "workflow" is no command. Meant "workflows"? "sluice --help" lists them.\n',
    });
    expect((await sluice('--url', 'http://127.0.0.1:1', 'zzzzzz')).stderr).toBe(
      'sluice: "zzzzzz" is no command. "sluice --help" lists them.\n',
    );
    expect((await sluice('help', 'exprot')).stderr).toContain('Meant "export"?');
    expect((await sluice('\u001b]0;title\u0007')).stderr).not.toMatch(/[\u001b\u0007]/);
  });

  it('tells a mistake as JSON, where that is asked for', async () => {
    const { status, stdout, stderr } = await sluice('exprot', '--json');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.split('\n')).toHaveLength(2);
    expect(JSON.parse(stderr)).toEqual({
      error: '"exprot" is no command. Meant "export"? "sluice --help" lists them.',
      code: 'usage',
      status: null,
      details: {},
      next: 'sluice --help',
    });
  });

  it.each([
    [['workflows', 'apply', 'x', '--dryrun', '--json'], /^unknown option '--dryrun'\n\(Did you mean --dry-run\?\)$/],
    [['workflows', 'apply', '--json'], /^missing required argument 'dir'$/],
    [['workflows', '--json'], /^unknown option '--json'$/],
  ])('tells a mistake in the options of %j as JSON, too', async (args, error) => {
    const { status, stdout, stderr } = await sluice(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: expect.stringMatching(error), code: 'usage', status: null });
  });

  it.each([[['export']], [['rebuild', '--fast']], [['rebuild', 'sources']], [['admin', 'nothing']], [['user']]])(
    'ends with 2 when the command line of an operator is wrong: %j',
    async (args) => {
      const { status, stdout, stderr } = await sluice(...args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^error: .*\n/);
    },
  );

  it('refuses options of author commands before the name of an operator command', async () => {
    const { status, stderr } = await sluice('--json', 'config');
    expect(status).toBe(2);
    expect(stderr).toContain('config takes no option --json before its name');
  });
});

describe('sluice serve', () => {
  it('1: is a server until it is told to end, and leaves no process', async () => {
    const dir = tempDir('serve');
    const env = {
      PATH: process.env.PATH,
      HOME: dir,
      SLUICE_PORT: '0',
      SLUICE_HEAP_MB: '300',
      SLUICE_ISOLATION: 'process',
    };
    const child = spawn(process.execPath, [CLI, 'serve'], { cwd: dir, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      const url = await eventually('the address', async () => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0], 60_000);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      child.kill('SIGTERM');
      const [status] = (await once(child, 'close')) as [number | null];
      expect(status).toBe(0);
      await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
    } finally {
      child.kill('SIGTERM');
      removeDir(dir);
    }
  }, 120_000);
});
