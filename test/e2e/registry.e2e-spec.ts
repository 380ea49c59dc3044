import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Component, type Data } from '#test/harness/api-client.js';
import { ApiContract } from '#test/harness/api-contract.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { eventually } from '#test/harness/wait.js';

const scratch = mkdtempSync(path.join(tmpdir(), 'sluice-registry-'));
const SLUICE_REGISTRY_DIR = path.join(scratch, 'registry');
const instance = useInstance({ env: { SLUICE_REGISTRY_DIR } });
const { api } = instance;
afterAll(() => rmSync(scratch, { recursive: true }));

const sluice = async (...args: readonly string[]): Promise<string> => {
  const cli = path.join(ROOT, 'dist/apps/cli/src/main.js');
  const { stdout } = await promisify(execFile)(process.execPath, [cli, 'registry', ...args], {
    env: { ...process.env, SLUICE_REGISTRY_DIR },
    cwd: scratch,
  });
  return stdout;
};

const app = (label: string): string =>
  `export default { type: 'app', app: 'shop', methods: { label() { return '${label}'; } } };`;
const newOrder = (version: string): string => `
  import shop from '../../shop.app.mjs';
  export default {
    key: 'shop-new-order', name: 'New Order', description: 'Emits each paid order', version: '${version}',
    props: { shop, http: '$.interface.http' },
    run(event) { this.$emit({ order: event.body, label: this.shop.label() }); },
  };`;
const createOrder = `export default { key: 'shop-create-order', name: 'Create Order', version: '1', type: 'action', run() {} };`;

const write = (name: string, text: string): void => {
  const file = path.join(scratch, 'parts', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const registered = (key: string) => api.call<Data<Component>>('GET', `/v1/components/registry/${key}`);
const until = (what: string, holds: () => Promise<boolean>): Promise<true> =>
  eventually(what, async () => (await holds()) || undefined, 60_000, 200);

describe('the registry', () => {
  beforeAll(async () => {
    write('shop/shop.app.mjs', app('one'));
    write('shop/sources/new-order/new-order.mjs', newOrder('1.0.0'));
    write('shop/actions/create-order/create-order.mjs', createOrder);
    write('shop/sources/broken/broken.mjs', `export default { key: 'shop-broken', version: '1', run( };`);
    expect(await sluice('add', 'parts')).toBe(`added parts to ${SLUICE_REGISTRY_DIR}, licence: none stated\n`);
    await until('the components are listed', async () => (await registered('shop-new-order')).status === 200);
  });

  // docs/reference/rest-api.md#registry-get
  it('gives a component by its key, and 404 for what could not be built', async () => {
    const contract = await ApiContract.of(api);
    const path = { key: 'shop-new-order' };
    const { data } = await contract.expect<Data<Component>>(200, 'GET /v1/components/registry/{key}', { path });
    expect(data).toMatchObject({ key: 'shop-new-order', name: 'New Order', version: '1.0.0', type: 'source' });
    expect(data.code).toContain('../../shop.app.mjs');
    const broken = await registered('shop-broken');
    expect(broken).toMatchObject({ status: 404, body: { code: 'component_not_found' } });
    expect(broken.text).toContain('sluice registry add');
  });

  // docs/reference/rest-api.md#registry-search
  it('finds keys by words, without data around them', async () => {
    const search = (query: string) => api.call('GET', `/v1/components/search?${query}`);
    const found = { sources: ['shop-new-order'], actions: ['shop-create-order'] };
    expect(await search('query=order')).toMatchObject({ status: 200, body: found });
    expect((await search('query=paid%20order&similarity_threshold=1')).body).toEqual({ ...found, actions: [] });
    expect((await search('query=order&app=shop')).body).toEqual({ ...found, actions: [] });
    expect((await search('query=unheard')).body).toEqual({ sources: [], actions: [] });
    expect(await search('query=a&similarity_threshold=2')).toMatchObject({ status: 400 });
  });

  it('is where any workspace deploys by key or id, after its own components', async () => {
    const source = await api.createSource({ key: 'shop-new-order' });
    await instance.post(source, { id: 7 });
    const [event] = await instance.history(source, 1);
    expect(event?.event).toEqual({ order: { id: 7 }, label: 'one' });
    const { data } = (await registered('shop-new-order')).body;
    expect(await api.createSource({ component_id: data.id })).toMatchObject({ component_id: data.id });

    const own = `export default { key: 'shop-new-order', name: 'Ours', version: '0', props: { http: '$.interface.http' }, run() {} };`;
    const saved = await api.expect<Data<Component>>(200, 'POST', '/v1/components', { body: { component_code: own } });
    expect((await api.createSource({ key: 'shop-new-order' })).component_id).toBe(saved.data.id);
  });

  it('follows updates, and forgets what is removed, while deployed sources continue', async () => {
    const { data: before } = (await registered('shop-new-order')).body;
    const source = await api.createSource({ component_id: before.id });
    write('shop/sources/new-order/new-order.mjs', newOrder('1.1.0'));
    write('shop/shop.app.mjs', app('two'));
    await sluice('update', 'parts');
    await until('1.1.0', async () => (await registered('shop-new-order')).body.data.version === '1.1.0');

    const lines = await eventually('the end of the build', async () => {
      const text = await sluice('list');
      return text.includes('2 of 3') ? text.trimEnd().split('\n') : undefined;
    });
    expect(lines).toEqual([
      expect.stringMatching(
        /^parts {2,}\S+parts {2}licence: none stated {2}\S+Z {2}2 of 3 components built, 1 failed$/,
      ),
      expect.stringMatching(/^ {2}failed {4}parts\/shop\/sources\/broken\/broken\.mjs: \S/),
    ]);
    await sluice('remove', 'parts');
    await until('it is gone', async () => (await registered('shop-new-order')).status === 404);
    await instance.post(source, { id: 8 });
    const [event] = await instance.history(source, 1);
    expect(event?.event).toEqual({ order: { id: 8 }, label: 'one' });
  });
});
