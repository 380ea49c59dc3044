import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { detectIsolation } from '#libs/sandbox/index.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

const folder = tempDir('test-command');
afterAll(() => removeDir(folder));

const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const sluice = (args: readonly string[], cwd = folder): Promise<Told> =>
  runNode([CLI, ...args], { PATH: process.env.PATH, CI: '1' }, cwd);
const linesOf = ({ stdout }: Told): readonly unknown[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

/** The test of docs/how-to/test-a-component.md, with the component of docs/how-to/write-a-component.md. */
const ORDERS = /```js file=orders\.mjs\n([\s\S]*?)```/.exec(
  readFileSync(join(ROOT, 'docs/how-to/write-a-component.md'), 'utf8'),
)?.[1];
const ordersTest = (sum: number): string => `
import { test } from 'node:test';
import { given } from 'sluice/test';
const order = { request: { body: { id: 'A1', amount: 25 }, headers: { 'x-shop-token': 'sesame' } } };
test('orders', async () => {
  const outcome = await given('./orders.mjs', { props: { token: 'sesame' }, now: '2026-01-01T00:00:00Z' }).when(order, order);
  outcome.expect({ emits: [{ id: 'A1', summary: 'Order A1' }], reply: { status: 202 }, db: { sum: ${sum} } });
});`;

/** A test, also in TypeScript, of a source whose run has this code. */
const testOf = (name: string, run: string, test: string, ending = 'mjs'): void => {
  write(`${name}/${name}.mjs`, `export default { name: 'S', version: '0.1.0', async run() { ${run} } };`);
  write(
    `${name}/${name}.test.${ending}`,
    `import { test } from 'node:test';
     import assert from 'node:assert';
     import { given } from 'sluice/test';
     test('${name}', async () => { ${test} });`,
  );
};

// Numbers are those of the checks of the command line.
describe('sluice test', () => {
  it('57: ends with 0 when all pass, and with 1 and both values when one fails', async () => {
    write('orders/orders.mjs', ORDERS ?? '');
    write('orders/orders.test.mjs', ordersTest(50));
    const passed = await sluice(['test', 'orders']);
    expect(passed.stderr).toBe('');
    expect(passed).toMatchObject({ status: 0, stdout: expect.stringMatching(/^✓ orders .*\n1 passed, 0 failed/) });

    write('orders/orders.test.mjs', ordersTest(51));
    const failed = await sluice(['test', 'orders', '--json']);
    expect(failed.status).toBe(1);
    expect(linesOf(failed)).toEqual([
      {
        type: 'fail',
        file: 'orders/orders.test.mjs',
        name: 'orders',
        ms: expect.any(Number),
        error: expect.stringContaining('db.sum: expected 51, got 50'),
      },
      { type: 'end', passed: 0, failed: 1 },
    ]);
    write('orders/orders.test.mjs', ordersTest(50));
  });

  it('58: jumps over a sleep of an hour, in TypeScript, and runs the tests of a name only', async () => {
    testOf(
      'sleep',
      'await new Promise((done) => setTimeout(done, 3_600_000)); this.$emit(1);',
      `const began: number = performance.now();
       const outcome = await given('./sleep.mjs').when({ event: null });
       outcome.expect({ emits: [{ event: 1 }], ms: 3_600_000 });
       const again = performance.now();
       (await given('./sleep.mjs').when({ event: null })).expect({ emits: [{}] });
       console.error('slept', Math.round(performance.now() - again));`,
      'ts',
    );
    const told = await sluice(['test', '--name', 'slee', '--json']);
    expect(linesOf(told)).toMatchObject([
      { type: 'pass', file: 'sleep/sleep.test.ts' },
      { type: 'end', passed: 1 },
    ]);
  });

  it('59: fails a request without a stub, and no packet leaves', async () => {
    let packets = 0;
    const server = createServer((_, res) => {
      packets++;
      res.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/items`;
    testOf(
      'unstubbed',
      `await fetch('${url}', { method: 'PUT' });`,
      `const { error } = await given('./unstubbed.mjs').when({ event: null });
       assert.match(error.message, /no stub answers PUT ${url.replaceAll('/', '\\/')}/);`,
    );
    expect((await sluice(['test', 'unstubbed'])).status).toBe(0);
    expect(packets).toBe(0);
    server.close();
  });

  it('60: records without the token, and passes without a network afterwards', async () => {
    const server = createServer((req, res) => res.end(req.headers.authorization)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    write(
      'poll/poll.mjs',
      `export default { name: 'S', version: '0.1.0', props: { token: { type: 'string', secret: true } }, async run() {
         const answer = await fetch('${url}', { headers: { authorization: 'Bearer ' + this.token } });
         this.$emit({ length: (await answer.text()).length });
       } };`,
    );
    write(
      'poll/poll.test.mjs',
      `import { test } from 'node:test';
       import { given } from 'sluice/test';
       test('poll', async () => {
         const poll = given('./poll.mjs', { props: { token: 'top-secret' }, http: './recorded.json' });
         (await poll.when({ event: null })).expect({ error: undefined, emits: [{}] });
       });`,
    );
    expect((await sluice(['test', 'poll', '--record'])).status).toBe(0);
    server.close();
    expect(readFileSync(join(folder, 'poll/recorded.json'), 'utf8')).not.toContain('top-secret');
    expect((await sluice(['test', 'poll'])).status).toBe(0);
  });

  it('runs a test again when its component changes, with --watch', async () => {
    testOf(
      'watched',
      'this.$emit(1);',
      `(await given('./watched.mjs').when({ event: null })).expect({ emits: [{ event: 1 }] });`,
    );
    const child = spawn(process.execPath, [CLI, 'test', 'watched', '--watch', '--json'], {
      cwd: folder,
      env: { PATH: process.env.PATH, CI: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let stdout = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      const rounds = () => stdout.split('\n').filter((line) => line.includes('"end"'));
      await eventually('the first round', () => rounds()[0], 60_000);
      expect(rounds()).toEqual(['{"type":"end","passed":1,"failed":0}']);
      write('watched/watched.mjs', `export default { name: 'S', version: '0.1.0', run() { this.$emit(2); } };`);
      await eventually('the second round', () => rounds()[1], 60_000);
      expect(rounds()[1]).toBe('{"type":"end","passed":0,"failed":1}');
      expect(stdout).toContain('emits[0].event: expected 1, got 2');
    } finally {
      child.kill('SIGINT');
      await once(child, 'exit');
    }
  }, 180_000);

  it('jails components as strongly as it can with --jail', async () => {
    // A jail numbers its processes anew.
    testOf(
      'jailed',
      'this.$emit(process.pid);',
      `const { emits: [{ event }] } = await given('./jailed.mjs').when({ event: null });
       assert.ok(event < 50, String(event));`,
    );
    const isStronger = (await detectIsolation('auto')).name !== 'process';
    const [plain, jailed] = [await sluice(['test', 'jailed']), await sluice(['test', 'jailed', '--jail'])];
    expect([plain.status, jailed.status]).toEqual([1, isStronger ? 0 : 1]);
  }, 60_000);

  it('lets no text of a test or component act on a terminal', async () => {
    const acts = String.raw`\u001b]0;owned\u0007\u009b2J`;
    testOf(
      'acting',
      `console.log('${acts}'); throw new Error('${acts}');`,
      `console.log('${acts}'); console.error('${acts}');
       (await given('./acting.mjs').when({ event: null })).expect({ error: undefined });`,
    );
    write(
      'acting/name.test.mjs',
      `import { test } from 'node:test'; test('${acts}', () => { throw new Error('${acts}'); });`,
    );
    for (const args of [
      ['test', 'acting'],
      ['test', 'acting', '--json'],
      ['test', acts],
    ]) {
      const { stdout, stderr } = await sluice(args);
      expect(`${stdout}${stderr}`).not.toMatch(/[\u001b\u0007\u009b]/);
    }
  }, 60_000);

  it('ends with 1 where there is no test', async () => {
    mkdirSync(join(folder, 'empty'));
    const { status, stderr } = await sluice(['test', 'empty']);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('no file of tests') });
  });

  it('runs the tests of the examples', async () => {
    const told = await sluice(['test', 'examples', '--json'], ROOT);
    expect(linesOf(told).filter((line) => (line as { type: string }).type === 'fail')).toEqual([]);
    expect(linesOf(told).at(-1)).toEqual({ type: 'end', passed: 8, failed: 0 });
  });
});
