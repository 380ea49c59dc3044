import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('author-changes');
afterAll(() => removeDir(dir));

const sluice = (...args: readonly string[]): Promise<Told> => {
  const env = { PATH: process.env.PATH, HOME: dir, SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url, T: 'sesame' };
  return runNode([CLI, ...args], env, dir);
};
const dataOf = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
  const { status, stdout, stderr } = await sluice(...args, '--json');
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return (JSON.parse(stdout) as { data: Record<string, unknown> }).data;
};

/** The numbers are those of the checks of the command line. */
describe('sluice update', () => {
  const code = (emits: string): string =>
    componentCode({
      props: `http: '$.interface.http', smallest: { type: 'integer', optional: true }, token: { type: 'string', secret: true, optional: true }`,
      members: `run() { this.$emit({ is: ${emits} }); },`,
    });
  let orders: Source;
  beforeAll(async () => {
    orders = await instance.deploy(code('1'), {}, 'orders');
  }, 120_000);

  it('32: leaves an inactive source inactive', async () => {
    expect(await dataOf('update', 'orders', '--deactivate')).toMatchObject({ active: false });
    expect(await dataOf('update', 'orders', '--name', 'Big orders')).toMatchObject({
      active: false,
      name: 'Big orders',
    });
    const told = await sluice('update', 'big-orders', '--activate', '--name', 'orders');
    expect(told).toEqual({ status: 0, stdout: `orders (${orders.id}): updated, active\n`, stderr: '' });
  });

  it('23, 24: sets props by text, JSON and variables, and removes them', async () => {
    const set = await dataOf('update', 'orders', '--prop', 'smallest:=20', '--prop', 'token=env:T');
    expect(set['configured_props']).toMatchObject({ smallest: 20, token: '********' });
    const unset = await dataOf('update', 'orders', '--unset', 'smallest');
    expect(unset['configured_props']).not.toHaveProperty('smallest');
    const refused = await sluice('update', 'orders', '--prop', 'smallest=many');
    expect(refused).toMatchObject({ status: 6, stdout: '' });
    expect(refused.stderr).toContain('smallest');
  });

  it('replaces the code', async () => {
    writeFileSync(join(dir, 'orders.mjs'), code('2'));
    await dataOf('update', 'orders', '--code', 'orders.mjs');
    await instance.post(orders);
    expect(await instance.payloads(orders, 1)).toEqual([{ is: 2 }]);
    writeFileSync(join(dir, 'orders.mjs'), 'export default {');
    expect(await sluice('update', 'orders', '--code', 'orders.mjs')).toMatchObject({ status: 6, stdout: '' });
    expect(await sluice('update', 'orders', '--code', 'none.mjs')).toMatchObject({ status: 2, stdout: '' });
    expect(await sluice('update', 'orders')).toMatchObject({ status: 2, stdout: '' });
  }, 60_000);

  it('33: is refused when somebody else was first', async () => {
    const both = await Promise.all(
      ['a', 'b', 'c', 'd'].map((value) => sluice('update', 'orders', '--prop', `token=${value}`)),
    );
    const exits = both.map(({ status }) => status);
    expect(exits).toContain(0);
    expect(exits.filter((status) => status !== 0 && status !== 5)).toEqual([]);
    for (const { status, stderr } of both)
      if (status === 5) expect(stderr).toMatch(/^sluice: .*(revision|is being changed)/);
  }, 60_000);
});

describe('subscriptions and webhooks', () => {
  it('are made, changed and ended by name', async () => {
    const emitter = await instance.deploy(relayCode(), {}, 'emitter');
    const listener = await instance.deploy(relayCode(), {}, 'listener');
    const made = await dataOf('subscribe', 'emitter', 'listener', '--channel', 'big', '--filter', '{"a":1}');
    expect(made).toMatchObject({ emitter_id: emitter.id, listener_id: listener.id, event_name: 'big' });
    expect(await sluice('unsubscribe', 'emitter', 'listener')).toMatchObject({ status: 4 });
    expect((await sluice('unsubscribe', 'emitter', 'listener', '--channel', 'big')).stdout).toBe(
      `${emitter.id} -> ${listener.id} (big): ended\n`,
    );
    expect(await sluice('subscribe', 'emitter')).toMatchObject({ status: 2 });

    const created = await sluice('webhooks', 'create', instance.receiver.url, '--name', 'mine', '--attempts', '3');
    const [, id = '', key = ''] =
      /^webhook (wh_\w+)\nsigning key, shown this once: (whsec_\S+)\n$/.exec(created.stdout) ?? [];
    expect(key).not.toBe('');
    expect(await dataOf('webhooks', 'update', 'mine', '--timeout', '7')).toMatchObject({
      id,
      timeout_s: 7,
      max_attempts: 3,
    });
    expect(await dataOf('subscribe', 'emitter', 'mine')).toMatchObject({ listener_id: id });
    instance.receiver.trust(key);
    await instance.post(emitter, { n: 1 });
    await instance.receiver.until('the delivery', () => instance.arrived(id).length === 1);
    expect(await dataOf('subscribe', '--auto', 'mine', '--channel', '$errors')).toMatchObject({ listener_id: id });
    expect((await sluice('unsubscribe', '--auto', 'mine', '--channel', '$errors')).status).toBe(0);
    expect(await sluice('webhooks', 'delete', 'mine')).toMatchObject({ status: 2 });
    expect(await dataOf('webhooks', 'delete', 'mine', '--yes')).toEqual({ id, deleted: true });
    expect((await api.call('GET', `/v1/webhooks/${id}`)).status).toBe(404);
    expect((await sluice('webhooks', 'delete', 'mine', '-y')).stderr).toBe(
      'sluice: no webhook is called "mine". "sluice list webhooks" shows all.\n',
    );
  }, 120_000);
});
