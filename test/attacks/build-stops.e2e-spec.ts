import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';

/** Two slots, one per workspace. */
const instance = useInstance({ env: { SLUICE_BUILDS: '2', SLUICE_BUILD_TIMEOUT_S: '4' } });
const { api, server } = instance;
let neighbour: ApiClient;

beforeAll(async () => {
  await server.stop();
  const cli = join(ROOT, 'dist/apps/cli/src/main.js');
  const env = { ...server.settings, PATH: process.env.PATH };
  const { stdout } = await promisify(execFile)(process.execPath, [cli, 'user', 'bob', '--email', 'bob@example.com'], {
    env,
  });
  await server.start();
  neighbour = new ApiClient({
    get url() {
      return server.url;
    },
    apiKey: /API key[^:]*: (\S+)/.exec(stdout)?.[1] ?? '',
  });
}, 120_000);
afterAll(() => neighbour.close());

const innocent = (): string => componentCode({ members: 'run() {}' });
const save = (client: ApiClient, code: string) =>
  client.call('POST', '/v1/components', { body: { component_code: code } });

const BRACKETS = '['.repeat(1_000_000);
let count = 0;
/** 240 bytes for which the TypeScript parser tries two readings at each of 24 levels. */
const exponential = (): string => `export default ${'a?(b):c=>'.repeat(24)}d${':e'.repeat(24)} // ${++count}`;

/** esbuild without a jail, in a process of this test. */
const plainEsbuild = (script: string): ChildProcess =>
  spawn(process.execPath, ['-e', `const { transform } = require('esbuild'); (async () => { ${script} })();`], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

describe('code that stops the compiler', () => {
  it('with a million brackets ends only its own build', async () => {
    const plain = plainEsbuild(`
      await transform('['.repeat(1e6)).catch(() => undefined);
      await transform('1').then(() => console.log('lives'), () => console.log('dead')); process.exit();`);
    let said = '';
    plain.stdout?.on('data', (text: Buffer) => (said += text.toString()));
    await new Promise((resolve) => plain.once('close', resolve));
    expect(said.trim()).toBe('dead');

    const [attack, other] = await Promise.all([save(api, BRACKETS), save(neighbour, innocent())]);
    expect(attack).toMatchObject({
      status: 400,
      body: { code: 'invalid_component', error: expect.stringMatching(/limit of \d+ (MB|ms)/) },
    });
    expect(other.status).toBe(200);
    expect((await save(api, innocent())).status).toBe(200);
  }, 60_000);

  it('with exponential parse time ends at the limit, while a neighbour deploys', async () => {
    const plain = plainEsbuild(`await transform(${JSON.stringify(exponential())}, { loader: 'ts' });`);
    let answered = 0;
    const attacks = Array.from({ length: 2 }, () => save(api, exponential()).finally(() => answered++));

    expect((await save(neighbour, innocent())).status).toBe(200);
    // One has the slot, and the other waits.
    expect(answered).toBeLessThan(2);
    expect(plain.exitCode).toBeNull();
    plain.kill('SIGKILL');

    const replies = await Promise.all(attacks);
    for (const { status, body } of replies) {
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'invalid_component', error: expect.stringContaining('limit of 4000 ms') });
    }
    expect((await save(api, innocent())).status).toBe(200);
  }, 90_000);
});
