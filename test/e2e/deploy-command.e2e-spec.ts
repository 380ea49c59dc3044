import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Paged, type Source } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('deploy-command');
afterAll(() => removeDir(dir));

const sluice = (...args: readonly string[]): Promise<Told> => {
  const env = { PATH: process.env.PATH, HOME: dir, SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url };
  return runNode([CLI, ...args], env, dir);
};
const dataOf = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
  const { status, stdout, stderr } = await sluice(...args, '--json');
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return (JSON.parse(stdout) as { data: Record<string, unknown> }).data;
};
const write = (name: string, text: string): void => {
  mkdirSync(join(dir, name, '..'), { recursive: true });
  writeFileSync(join(dir, name), text);
};
const sources = async (): Promise<readonly Source[]> =>
  (await api.expect<Paged<Source>>(200, 'GET', '/v1/users/me/sources', { query: { limit: '100' } })).data;

const ORDERS = componentCode({
  name: 'Orders',
  props: `http: '$.interface.http',
    smallest: { type: 'integer', label: 'Smallest amount to emit', default: 10 },
    token: { type: 'string', secret: true, label: 'Token that the shop sends' },
    timer: { type: '$.interface.timer', label: 'When to look' }`,
  members: 'run(event) { this.$emit({ smallest: this.smallest, token: this.token }); },',
});

/** The numbers are those of the checks of the command line. */
describe('sluice deploy', () => {
  it('20: deploys a file, and tells where the source is', async () => {
    write('hello.mjs', relayCode('hello'));
    const data = await dataOf('deploy', 'hello.mjs');
    expect(data).toMatchObject({ id: expect.stringMatching(/^dc_[0-9a-z]{18}$/), active: true, name_slug: 'hello' });
    const { status, stdout, stderr } = await sluice('deploy', 'hello.mjs', '--name', 'Second');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^second \(dc_\w+\): deployed, active\nendpoint {2}http\S+\n$/);
  }, 60_000);

  it('21: tells every prop that is needed, where nobody can be asked', async () => {
    write('orders.mjs', ORDERS);
    const before = (await sources()).length;
    const { status, stdout, stderr } = await sluice('deploy', 'orders.mjs');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(
      `sluice: deploy needs 2 props, and nobody can be asked here:
--prop token=…   Token that the shop sends (string)
--prop timer:=…  When to look ($.interface.timer)
`,
    );
    const json = await sluice('deploy', 'orders.mjs', '--prop', 'token=sesame', '--json');
    expect(json).toMatchObject({ status: 2, stdout: '' });
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: expect.stringContaining('deploy needs 1 prop, and nobody can be asked here:\n--prop timer:=…'),
      code: 'usage',
    });
    expect(await sources()).toHaveLength(before);
  }, 60_000);

  it('23, 24: takes secrets of a file of variables, and JSON', async () => {
    write('f', 'T=sesame\n');
    const props = ['--prop', 'token=env:T', '--env-file', 'f', '--prop', 'smallest:=20'];
    const timer = ['--prop', 'timer:={"cron":"0 9 * * *","timezone":"Europe/Berlin"}'];
    const { status, stdout } = await sluice('deploy', 'orders.mjs', '--name', 'orders', ...props, ...timer);
    expect(status).toBe(0);
    expect(stdout).toMatch(/\nnext run {2}\d{4}-\d\d-\d\dT0[78]:00:00\.000Z\n/);
    expect(await dataOf('describe', 'orders')).toMatchObject({
      configured_props: { smallest: 20, token: '********', timer: { cron: '0 9 * * *' } },
    });
    const refused = await sluice('deploy', 'orders.mjs', ...props, ...timer, '--prop', 'smallest=many');
    expect(refused).toMatchObject({ status: 6, stdout: '' });
    expect(refused.stderr).toMatch(/^sluice: .*smallest/);
  }, 60_000);

  it('27: deploys a component of several files, whose errors name the lines of the author', async () => {
    write('shop/package.json', '{}');
    write('shop/acme.app.mjs', `export const fail = () => {\n  throw new Error('no stock');\n};\n`);
    write('shop/texts/greeting.json', '{"text":"Hello"}');
    const head = `import { fail } from '../../acme.app.mjs';\nimport greeting from '../../texts/greeting.json';`;
    const members = 'run(event) { if (event.body?.fail) fail(); this.$emit(greeting); },';
    write('shop/sources/stock/stock.mjs', componentCode({ head, members }));
    const source = (await dataOf('deploy', 'shop/sources/stock/stock.mjs')) as unknown as Source;
    await instance.post(source, {});
    expect(await instance.payloads(source, 1)).toEqual([{ text: 'Hello' }]);
    await instance.post(source, { fail: true });
    const [error] = await instance.history(source, 1, '$errors');
    expect(JSON.stringify(error?.event)).toMatch(/acme\.app\.mjs:2:9/);
    await dataOf('update', source.name_slug, '--code', 'shop/sources/stock/stock.mjs');
  }, 60_000);

  it('28, 29: sends nothing of a set of files that it refuses', async () => {
    write('shop/far.mjs', `import '../hello.mjs';`);
    const told = await sluice('deploy', 'shop/far.mjs', '--verbose');
    expect(told).toMatchObject({ status: 2, stdout: '' });
    expect(told.stderr).toMatch(/^sluice: far\.mjs:1:8: the import "\.\.\/hello\.mjs" leads to \S+, outside of the/);
    write('shop/big.mjs', `import './big.json';`);
    write('shop/big.json', JSON.stringify('x'.repeat(2_400_000)));
    const big = await sluice('deploy', 'shop/big.mjs', '--verbose');
    expect(big).toMatchObject({ status: 2, stdout: '' });
    expect(big.stderr).toMatch(/^sluice: big\.mjs:1:8: big\.json has 2,344 KB, .* 2,304 KB together\n$/);
  });

  it('30: changes the source of a name that is there already', async () => {
    const first = await dataOf(
      'deploy',
      'orders.mjs',
      '--name',
      'Upsérted',
      '--upsert',
      '--prop',
      'token=a',
      '--prop',
      'timer:={"intervalSeconds":900}',
    );
    expect(first).toMatchObject({ name_slug: 'upserted' });
    await dataOf('stop', 'upserted');
    // What is stored need not be given again.
    const second = await dataOf('deploy', 'orders.mjs', '--name', 'Upsérted', '--upsert', '--prop', 'smallest:=7');
    expect(second).toMatchObject({
      id: first['id'],
      active: false,
      configured_props: { smallest: 7, token: '********' },
    });
    expect((await sources()).filter(({ name_slug: slug }) => slug.startsWith('upserted'))).toHaveLength(1);
    expect(await sluice('deploy', 'orders.mjs', '--upsert')).toMatchObject({ status: 2, stdout: '' });
    write('at-once.mjs', relayCode('at-once'));
    const atOnce = ['deploy', 'at-once.mjs', '--name', 'at once', '--upsert'];
    const both = await Promise.all([sluice(...atOnce), sluice(...atOnce)]);
    expect([0, 5]).toEqual(expect.arrayContaining(both.map(({ status }) => status)));
    expect((await sources()).filter(({ name_slug: slug }) => slug.startsWith('at-once'))).toHaveLength(1);
  }, 60_000);

  it('31: tells the place of a mistake, and what a hook did', async () => {
    write('broken.mjs', `export default {\n  name: 'x',\n  run( {\n};\n`);
    const broken = await sluice('deploy', 'broken.mjs', '--json');
    expect(broken).toMatchObject({ status: 6, stdout: '' });
    expect(JSON.parse(broken.stderr)).toMatchObject({
      code: 'invalid_component',
      status: 400,
      details: { file: 'broken.mjs', line: expect.any(Number), column: expect.any(Number) },
    });
    const members = `hooks: { deploy() { console.log('asking'); throw new Error('no such shop'); } }, run() {},`;
    write('hook.mjs', componentCode({ members }));
    const failed = await sluice('deploy', 'hook.mjs');
    expect(failed).toMatchObject({ status: 6, stdout: '' });
    expect(failed.stderr).toMatch(/asking\n(?:.*\n)*Error no such shop at .*hook\.mjs:\d+:\d+\)\n/);
    expect(failed.stderr).toMatch(/\nsluice: hook deploy failed: .*no such shop\n$/);
    const json = JSON.parse((await sluice('deploy', 'hook.mjs', '--json')).stderr) as Record<string, unknown>;
    expect(json).toMatchObject({ code: 'hook_failed', details: { hook: 'deploy', observations: expect.any(Array) } });
  }, 60_000);

  it('deploys what is published, by its key or id', async () => {
    write('keyed.mjs', componentCode({ name: 'Keyed', key: 'keyed-x', version: '1.2.3', members: 'run() {},' }));
    const told = await sluice('publish', 'keyed.mjs');
    expect(told).toMatchObject({ status: 0, stderr: '' });
    const [, id = ''] = /^keyed-x 1\.2\.3 \((sc_\w+)\): saved\n$/.exec(told.stdout) ?? [];
    expect(await dataOf('publish', 'keyed.mjs')).toMatchObject({ id, key: 'keyed-x' });
    expect(await dataOf('deploy', 'keyed-x')).toMatchObject({ component_id: id });
    expect(await dataOf('deploy', id)).toMatchObject({ component_id: id });
    expect(await sluice('deploy', 'keyed-y')).toMatchObject({ status: 4, stdout: '' });
    expect(await sluice('deploy', 'keyed-y.mjs')).toMatchObject({
      status: 2,
      stderr: 'sluice: there is no file keyed-y.mjs\n',
    });
    write('action.mjs', `export default { type: 'action', key: 'act-x', name: 'Act', version: '0.0.1', run() {} };`);
    const action = await sluice('deploy', 'action.mjs');
    expect(action).toMatchObject({ status: 2, stdout: '' });
    expect(action.stderr).toMatch(/^sluice: Act \(sc_\w+\) is an action, and only sources can be deployed\n$/);
  }, 60_000);

  it('deletes a component that no source uses, after a question or with --yes', async () => {
    write('gone.mjs', componentCode({ name: 'Gone', key: 'gone-x', members: 'run() {},' }));
    const { id } = await dataOf('publish', 'gone.mjs');
    expect(await sluice('unpublish', 'gone-x')).toMatchObject({ status: 2, stdout: '' });
    const source = await dataOf('deploy', 'gone-x');
    const used = await sluice('unpublish', 'gone-x', '--yes', '--json');
    expect(used).toMatchObject({ status: 5, stdout: '' });
    expect(JSON.parse(used.stderr)).toMatchObject({ code: 'component_in_use' });
    await dataOf('delete', String(source['id']), '--yes');
    expect(await dataOf('unpublish', 'component', 'gone-x', '--yes')).toEqual({ id, deleted: true });
    expect(await sluice('unpublish', 'gone-x', '--yes')).toMatchObject({ status: 4, stdout: '' });
  }, 60_000);

  it('names accounts by id and by name', async () => {
    const made = await api.expect<{ data: { id: string } }>(200, 'POST', '/v1/accounts', {
      body: { app: 'shop_x', name: 'Mine', credentials: { token: 'x' } },
    });
    write('app.mjs', componentCode({ props: `shop: { type: 'app', app: 'shop_x' }`, members: 'run() {},' }));
    const named = { configured_props: { shop: { authProvisionId: made.data.id } } };
    expect(await dataOf('deploy', 'app.mjs', '--account', 'shop=Mine')).toMatchObject(named);
    expect(await dataOf('deploy', 'app.mjs', '--account', `shop=${made.data.id}`)).toMatchObject(named);
    expect((await sluice('deploy', 'app.mjs', '--account', 'shop=Yours')).stderr).toBe(
      'sluice: no account is called "Yours". "sluice list accounts" shows all.\n',
    );
  }, 60_000);

  it('6: is refused with a key that may only read', async () => {
    const { data } = await api.expect<{ data: { key: string } }>(200, 'POST', '/v1/api_keys', {
      body: { name: 'reader', read_only: true },
    });
    const env = { PATH: process.env.PATH, HOME: dir, SLUICE_API_KEY: data.key, SLUICE_URL: server.url };
    expect(await runNode([CLI, 'deploy', 'hello.mjs'], env, dir)).toMatchObject({ status: 3, stdout: '' });
  }, 60_000);
});
