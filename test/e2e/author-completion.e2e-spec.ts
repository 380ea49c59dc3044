import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('completion');
afterAll(() => removeDir(dir));

const settings = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: dir,
  SLUICE_API_KEY: server.apiKey,
  SLUICE_URL: server.url,
});
const sluice = (...args: readonly string[]): Promise<Told> => runNode([CLI, ...args], settings(), dir);

const has = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const SHELLS = ['bash', 'zsh', 'fish'];

/** What Bash offers for a line whose last word is completed. */
const inBash = async (...words: readonly string[]): Promise<readonly string[]> => {
  const script = `
    sluice() { '${process.execPath}' '${CLI}' "$@"; }
    source <(sluice completion bash)
    source <(sluice completion bash)
    COMP_WORDS=(sluice "$@"); COMP_CWORD=$#
    _sluice_complete
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script, 'bash', ...words], {
    env: settings(),
    cwd: dir,
  });
  expect(stderr.replaceAll(/.*compopt: not currently executing completion function\n/g, '')).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
};

// The number is that of the check of the command line.
describe('49: completion', () => {
  beforeAll(async () => {
    await instance.deploy(relayCode(), {}, 'hello');
    await api.createWebhook('https://example.com/hook', '$(touch here)');
  }, 120_000);

  it('of Bash gives commands, options, values and names of the server', async () => {
    expect(await inBash('ev')).toEqual(['events']);
    expect(await inBash('describe', 'he')).toEqual(['hello']);
    expect(await inBash('webhooks', 'up')).toEqual(['update']);
    expect(await inBash('list', '--al')).toEqual(['--all']);
    expect(await inBash('list', 'sou')).toEqual(['sources']);
    expect(await inBash('list', '--color', '=', 'al')).toEqual(['always']);
    expect(await inBash('config', '--re')).toEqual(['--reference']);
  }, 120_000);

  it('evaluates neither what is typed nor what others have named', async () => {
    expect(await inBash('describe', '$(touch here)', '`touch here`', '')).toEqual([]);
    expect(await inBash('webhooks', 'delete', '')).toEqual([expect.stringMatching(/^wh_/)]);
    expect(existsSync(join(dir, 'here'))).toBe(false);
  }, 120_000);

  it('is silent when no server answers, and when nobody is logged in', async () => {
    const line = ['complete', '--', 'describe', 'he'];
    const env = { PATH: process.env.PATH, HOME: dir };
    expect(await runNode([CLI, ...line], env, dir)).toEqual({ status: 0, stdout: ':4\n', stderr: '' });
    const lost = { ...settings(), SLUICE_URL: 'http://127.0.0.1:9' };
    expect(await runNode([CLI, ...line], lost, dir)).toEqual({ status: 0, stdout: ':4\n', stderr: '' });
  }, 60_000);

  it('leaves names of files to the shell', async () => {
    expect((await sluice('complete', '--', 'workflows', 'apply', '')).stdout).toBe(':0\n');
  }, 60_000);

  for (const shell of SHELLS.filter((each) => !has(each)))
    it.skip(`gives a script for ${shell}, which this computer lacks`, () => undefined);

  it.each(SHELLS.filter(has))(
    'gives a script that %s loads without an error',
    async (shell) => {
      const { stdout } = await sluice('completion', shell);
      expect(stdout).toContain('sluice complete --');
      const begin = shell === 'zsh' ? 'autoload -U compinit; compinit -u -d /dev/null\n' : '';
      const told = execFileSync(shell, ['-c', `${begin}${stdout}`], { env: settings(), encoding: 'utf8' });
      expect(told).toBe('');
    },
    60_000,
  );

  (has('fish') ? it : it.skip)(
    'of fish gives commands and names of the server, and evaluates nothing that is typed',
    async () => {
      const lines = [
        'sluice ev',
        'sluice describe he',
        'sluice describe "$(touch here)" ',
        'sluice describe `touch here` ',
      ];
      const script = `
        function sluice; '${process.execPath}' '${CLI}' $argv; end
        sluice completion fish | source
        ${lines.map((line) => `complete -C '${line}'`).join('\n')}`;
      const { stdout, stderr } = await promisify(execFile)('fish', ['-c', script], { env: settings(), cwd: dir });
      expect(stderr).toBe('');
      expect(stdout).toMatch(/^events\t[^\n]*\nhello\tdc_\w+\n/);
      expect(existsSync(join(dir, 'here'))).toBe(false);
    },
    60_000,
  );

  it('knows four shells', async () => {
    expect((await sluice('completion', 'powershell')).stdout).toContain('Register-ArgumentCompleter');
    expect(await sluice('completion', 'tcsh')).toMatchObject({ status: 2, stdout: '' });
  }, 60_000);
});
