import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from '@jest/globals';
import { CLI, runNode } from '#test/harness/command-line.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

const { server } = useInstance();
const dir = tempDir('workflow-files');
afterAll(() => removeDir(dir));

const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), text);
};
/** The end and the output of a command, without the path of the folder. */
const sluice = (...args: readonly string[]) => sluiceIn(dir, ...args);
const sluiceIn = async (dir: string, ...args: readonly string[]) => {
  const env = { PATH: process.env.PATH, SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url };
  const { status, stdout, stderr } = await runNode([CLI, 'workflows', ...args, dir], env, dir);
  const lines = (text: string): readonly string[] =>
    text
      .replaceAll(`${dir}/`, '')
      .split('\n')
      .filter((line) => line !== '');
  return { status, stdout: lines(stdout), stderr: lines(stderr) };
};

describe('workflows in a folder', () => {
  it('are validated, applied, compared and applied again', async () => {
    write(
      'orders/workflow.yaml',
      `schema: workflow/2022.04
name: Orders
settings:
  error_notification: true
  timeout_seconds: 20
triggers:
  - type: http
    auth:
      type: bearer
      token: a-long-secret-token
steps:
  - namespace: answer
    runtime: nodejs18.x
    uses: "./answer/entry.js"
`,
    );
    write('orders/answer/entry.js', "import { one } from './one.mjs';\nexport default { run: () => one };\n");
    write('orders/answer/one.mjs', 'export const one = 1;\n');
    write('shop/b/workflow.yaml', 'steps:\n  - namespace: x\n    code: export default { run() {} };\n');

    expect(await sluice('validate')).toMatchObject({ status: 0, stderr: [] });
    const added = await sluice('diff');
    expect(added.status).toBe(1);
    expect(added.stdout).toContain('+name: shop/b');
    expect(added.stdout.join()).not.toContain('secret');
    const created = ['orders/workflow.yaml: created', 'shop/b/workflow.yaml: created'];
    expect(await sluice('apply')).toEqual({ status: 0, stdout: created, stderr: [] });
    expect(await sluice('diff')).toEqual({ status: 0, stdout: [], stderr: [] });
    const unchanged = ['orders/workflow.yaml: unchanged', 'shop/b/workflow.yaml: unchanged'];
    expect(await sluice('apply')).toEqual({ status: 0, stdout: unchanged, stderr: [] });

    write('orders/answer/one.mjs', 'export const one = 2;\n');
    const changed = await sluice('diff');
    expect(changed.status).toBe(1);
    expect(changed.stdout).toContain('+    export const one = 2;');
    expect((await sluice('apply')).stdout).toEqual(['orders/workflow.yaml: updated', unchanged[1]]);
  }, 240_000);

  it('are refused with the place of each error', async () => {
    write('shop/b/workflow.yaml', 'steps:\n  - namespace: 5x\n    code: export default { run() {} };\n');
    const invalid = await sluice('validate');
    expect(invalid).toMatchObject({ status: 6, stdout: [] });
    expect(invalid.stderr[0]).toMatch(/^shop\/b\/workflow\.yaml:2:5: steps\[0\]\.namespace: must match/);
    write('shop/b/workflow.yaml', 'steps:\n  - namespace: x\n    uses: no-such-component\n');
    const unresolved = await sluice('apply');
    expect(unresolved).toMatchObject({ status: 6, stdout: [] });
    expect(unresolved.stderr[0]).toMatch(/^shop\/b\/workflow\.yaml:3:5: steps\[0\]\.uses: could not resolve/);
    write('shop/b/workflow.yaml', 'steps:\n  - namespace: x\n    code: export default {\n');
    const unbuilt = await sluice('apply');
    expect(unbuilt.status).toBe(6);
    expect(unbuilt.stderr[0]).toMatch(/^shop\/b\/workflow\.yaml:3:5: steps\[0\]\.code: the code cannot be compiled/);
  }, 120_000);
});

describe('workflows of a server', () => {
  const pulled = tempDir('workflow-files-pulled');
  afterAll(() => removeDir(pulled));

  it('are pulled, and applied without a change', async () => {
    write(
      'tour/workflow.yaml',
      `name: Tour
description: |
  Two lines:
  of text
settings:
  timeout_seconds: 20
  concurrency: 2
  throttle: { limit: 5, interval: 1, unit: minute }
  data_retention: { runs: 10, days: 2 }
triggers:
  - type: http
    name: bearer
    auth: { type: bearer, token: another-secret-token }
  - type: http
    response: static
    static_response: { status: 202, headers: { X-Tour: "yes" }, body: "0x10" }
  - type: timer
    interval_seconds: 3600
  - type: timer
    name: nightly
    cron: 0 3 * * *
    timezone: Europe/Berlin
    overlap: skip
  - type: manual
steps:
  - namespace: list
    name: All that is there
    code: |
      export default {
        run: () => [1, 2],
      };
  - namespace: each
    uses: ./each/entry.js
    for_each: "{{steps.list.$return_value}}"
    concurrency: 2
    if: steps.list.$return_value.length > 0
    props: { item: "{{$item}}", plain: 5 }
    retry: { max_retries: 1, delay_seconds: 1 }
    on_error: mend
  - namespace: mend
    disabled: true
    code: export default { run() {} };
`,
    );
    write('tour/each/entry.js', 'export default { props: { item: "any", plain: "integer" }, run: () => 1 };\n');
    // The one before has an error in it.
    write('shop/b/workflow.yaml', 'steps:\n  - namespace: x\n    code: export default { run() {} };\n');
    expect(await sluice('apply')).toMatchObject({ status: 0 });

    const into = await sluiceIn(pulled, 'pull');
    expect(into).toMatchObject({ status: 0, stderr: [] });
    expect(into.stdout).toHaveLength(3);
    expect(into.stdout.every((line) => /^[a-z-]+-p_[0-9a-z]{18}\/workflow\.yaml: written$/.test(line))).toBe(true);
    const tour = readdirSync(pulled).find((name) => name.startsWith('tour-')) ?? '';
    const text = readFileSync(join(pulled, tour, 'workflow.yaml'), 'utf8');
    expect(text).toContain('schema: sluice.workflow/1\n');
    expect(text).toContain('token: "********"');
    expect(readFileSync(join(pulled, tour, 'each/entry.js'), 'utf8')).toBe(
      readFileSync(join(dir, 'tour/each/entry.js'), 'utf8'),
    );
    expect(await sluiceIn(pulled, 'diff')).toEqual({ status: 0, stdout: [], stderr: [] });
    const again = await sluiceIn(pulled, 'apply');
    expect(again).toMatchObject({ status: 0, stderr: [] });
    expect(again.stdout.map((line) => line.replace(/^.*: /, ''))).toEqual(['unchanged', 'unchanged', 'unchanged']);
    // The folder that they came from has them by the same external ids.
    expect((await sluice('pull')).stdout.every((line) => line.endsWith(': unchanged'))).toBe(true);
  }, 240_000);

  it('are deleted when their folder is gone and somebody agrees, and no other is', async () => {
    const set = tempDir('workflow-files-set');
    const put = (name: string): void => {
      mkdirSync(join(set, name));
      writeFileSync(join(set, name, 'workflow.yaml'), 'steps: []\n');
    };
    put('kept');
    put('gone');
    expect(await sluiceIn(set, 'apply', '--set', 'pruned')).toMatchObject({ status: 0 });
    removeDir(join(set, 'gone'));
    const unasked = await sluiceIn(set, 'apply', '--set', 'pruned', '--prune');
    expect(unasked).toMatchObject({ status: 2, stdout: [] });
    expect(unasked.stderr.at(-1)).toContain('add --yes');
    const { status, stdout } = await sluiceIn(set, 'apply', '--set', 'pruned', '--prune', '--yes');
    expect([status, stdout.length, stdout[1]]).toEqual([0, 2, expect.stringMatching(/^p_\w{18} "gone": deleted$/)]);
    removeDir(set);
    // Those of the default set are all there.
    expect(await sluiceIn(pulled, 'diff')).toEqual({ status: 0, stdout: [], stderr: [] });
  }, 120_000);

  it('are applied again after each change, until Ctrl-C', async () => {
    const watched = tempDir('workflow-files-watch');
    writeFileSync(join(watched, 'workflow.yaml'), 'external_id: watched\nsteps: []\n');
    const env = { PATH: process.env.PATH, SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url };
    const args = [CLI, 'workflows', 'apply', '--watch', '--json', watched];
    const child = spawn(process.execPath, args, { env, cwd: watched, stdio: ['ignore', 'pipe', 'pipe'] });
    const told: string[] = [];
    const refused: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) =>
      told.push((JSON.parse(line) as { state: string }).state),
    );
    createInterface({ input: child.stderr }).on('line', (line) =>
      refused.push((JSON.parse(line) as { code: string }).code),
    );
    const until = (states: readonly string[]) =>
      eventually(states.join(), async () => (told.length >= states.length ? told : undefined), 30_000);
    try {
      expect(await until(['created'])).toEqual(['created']);
      writeFileSync(join(watched, 'workflow.yaml'), 'external_id: watched\nsteps: [\n');
      await eventually('an error', async () => (refused.length > 0 ? true : undefined), 30_000);
      writeFileSync(join(watched, 'workflow.yaml'), 'external_id: watched\ndescription: New\nsteps: []\n');
      expect(await until(['created', 'updated'])).toEqual(['created', 'updated']);
      expect(new Set(refused)).toEqual(new Set(['invalid_definition']));
    } finally {
      child.kill('SIGINT');
      await once(child, 'close');
      removeDir(watched);
    }
    expect(child.exitCode).toBe(0);
  }, 120_000);
});
