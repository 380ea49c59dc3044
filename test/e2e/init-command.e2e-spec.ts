import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

const { server } = useInstance();
const folder = tempDir('init-command');
afterAll(() => removeDir(folder));

const sluice = (args: readonly string[], cwd = folder): Promise<Told> => {
  const env = { PATH: process.env.PATH, HOME: folder, CI: '1', SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url };
  return runNode([CLI, ...args], env, cwd);
};
const linesOf = ({ stdout }: Told): readonly unknown[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('sluice init', () => {
  it('61: writes components whose tests pass, and replaces nothing', async () => {
    const own = join(folder, 'made');
    mkdirSync(own);
    const init = (...args: readonly string[]): Promise<Told> => sluice(['init', ...args], own);
    expect(await init('source', 'x', '--http', '--db')).toMatchObject({ status: 0 });
    for (const template of ['hello', 'timer', 'feed', 'github-webhook', 'poll', 'relay'])
      expect(await init('source', template, '--template', template)).toMatchObject({ status: 0 });
    expect(await init('source', 'typed', '--http', '--ts')).toMatchObject({ status: 0 });
    for (const parts of [['--timer'], ['--http', '--timer', '--db']])
      expect(await init('source', `parts${parts.length}`, ...parts)).toMatchObject({ status: 0 });
    expect(await init('action', 'greet')).toMatchObject({ status: 0 });
    expect(await init('app', 'ledger')).toMatchObject({ status: 0 });
    const told = await sluice(['test', '--json'], own);
    expect(linesOf(told).filter((line) => (line as { type: string }).type === 'fail')).toEqual([]);
    expect(linesOf(told).at(-1)).toEqual({ type: 'end', passed: 16, failed: 0 });

    for (const file of ['x/x.mjs', 'poll/poll.mjs --prop token=any'])
      expect(await sluice(['deploy', ...file.split(' ')], own)).toMatchObject({ status: 0 });

    expect(await init('source', 'x')).toMatchObject({ status: 2, stdout: '' });
    expect(await init('source', 'x', '--force')).toMatchObject({ status: 0 });
    expect(await init('source', '../x')).toMatchObject({ status: 2 });
  }, 180_000);

  it('writes a project', async () => {
    const told = await sluice(['init', 'project', 'shop', '--json']);
    expect(JSON.parse(told.stdout)).toEqual({
      data: {
        files: ['package.json', 'tsconfig.json', '.gitignore', 'hello/hello.mjs', 'hello/hello.test.mjs'].map((file) =>
          join('shop', file),
        ),
      },
    });
    expect(existsSync(join(folder, 'shop/.gitignore'))).toBe(true);
    expect((await sluice(['test', 'shop'])).status).toBe(0);
  });
});
