import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, type Component, type Data, type Source } from '#test/harness/api-client.js';
import { clientOf } from '#test/harness/client-of.js';
import { componentCode } from '#test/harness/component-code.js';
import { Deployment } from '#test/harness/deployment.js';
import { Instance } from '#test/harness/instance.js';
import { sluice } from '#test/harness/move-scene.js';
import { NpmRegistry } from '#test/harness/npm-registry.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';

/** Three processes take commands, of which two share a folder of packages, and two run sources with a folder each. */
let instance: Instance<Deployment>;
let deployment: Deployment;
let registry: NpmRegistry;
let api: ApiClient;
/** Clients of the three processes, which bypass the proxy. */
let takers: readonly ApiClient[] = [];

interface Saved extends Data<Component & { readonly packages?: { readonly count: number; readonly cached: boolean } }> {
  readonly warnings?: unknown;
}

beforeAll(async () => {
  registry = await NpmRegistry.start();
  deployment = new Deployment({
    copies: { 'command-api': 3, runner: 2 },
    env: { SLUICE_NPM_REGISTRY: registry.url },
  });
  for (const taker of deployment.processes['command-api'].slice(0, 2))
    taker.setting('SLUICE_PACKAGES_DIR', join(deployment.dataDir, 'packages'));
  instance = new Instance(deployment);
  ({ api } = instance);
  await instance.start();
  takers = deployment.processes['command-api'].map((server) => clientOf(server, deployment));
}, 400_000);

afterAll(async () => {
  await Promise.all(takers.map((client) => client.close()));
  await instance.close();
  await registry.close();
}, 120_000);

const taker = (n: number): Server => deployment.processes['command-api'][n] as Server;

/** Publishes a package that stays beside the bundle, so that a runner needs its files. It exports its version. */
const publish = (name: string, version: string): Promise<void> =>
  registry.publish(name, version, {
    'index.js': `module.exports = require('fs').readFileSync(__dirname + '/text.txt', 'utf8');`,
    'text.txt': `${name}@${version}`,
  });
const using = (name: string, head = ''): string =>
  componentCode({
    head: `import x from '${name}'; ${head}`,
    members: 'run({ body }) { this.$emit({ n: body.n, x }); },',
  });
const save = (client: ApiClient, code: string, more: object = {}): Promise<Saved> =>
  client.expect<Saved>(200, 'POST', '/v1/components', { body: { component_code: code, ...more } });
const versionsOf = async (componentId: string): Promise<readonly string[]> => {
  const path = `/v1/components/${componentId}/packages`;
  const { data } = await api.expect<Data<readonly { name: string; version: string }[]>>(200, 'GET', path);
  return data.map(({ name, version }) => `${name}@${version}`);
};
/** Ids of the components that use a package. */
const usersOf = async (wanted: string): Promise<readonly string[]> => {
  const query = { package: wanted, limit: '100' };
  const { data } = await api.expect<Data<readonly { id: string }[]>>(200, 'GET', '/v1/components', { query });
  return data.map(({ id }) => id);
};
const post = async (source: Source, n: number): Promise<void> =>
  expect((await instance.post(source, { n })).status).toBe(200);
const emitted = async (source: Source, count: number, channel?: string): Promise<readonly unknown[]> =>
  (await instance.history(source, count, channel, 60_000)).map(({ event }) => event);
const treesOf = (folder: string): readonly string[] =>
  existsSync(join(folder, 'trees')) ? readdirSync(join(folder, 'trees')) : [];

describe('three processes that get the same component with npm packages at once', () => {
  let code = '';
  let sources: readonly Source[] = [];

  it('save it once with one lock, and its sources run on either runner', async () => {
    await publish('ebb', '1.0.0');
    code = using('ebb');
    const saved = await Promise.all([...takers, ...takers].map((client) => save(client, code)));
    const [first] = saved;
    expect(new Set(saved.map(({ data }) => data.id)).size).toBe(1);
    const id = first?.data.id ?? '';
    expect(await versionsOf(id)).toEqual(['ebb@1.0.0']);
    expect(await usersOf('ebb')).toEqual([id]);

    sources = await Promise.all(takers.map((client) => client.createSource({ component_code: code })));
    expect(sources.map(({ component_id }) => component_id)).toEqual([id, id, id]);
    for (const source of sources) await post(source, 1);
    for (const source of sources) expect(await emitted(source, 1)).toEqual([{ n: 1, x: 'ebb@1.0.0' }]);
  }, 240_000);

  it('refresh it to one lock, while its sources keep what they were deployed with, on every runner', async () => {
    await publish('ebb', '1.1.0');
    const refreshing = takers.map((client) => save(client, code, { refresh_packages: true }));
    const saved = await Promise.all([...refreshing, ...takers.map((client) => save(client, code))]);
    const id = saved[0]?.data.id ?? '';
    expect(await versionsOf(id)).toEqual(['ebb@1.1.0']);
    expect(await usersOf('ebb@1.0.0')).toEqual([]);
    expect(await usersOf('ebb@1.1.0')).toEqual([id]);
    expect(await usersOf('ebb')).toEqual([id]);

    let n = 1;
    for (const runner of deployment.processes.runner) {
      await runner.kill9();
      rmSync(join(runner.dataDir, 'packages'), { recursive: true, force: true });
      n++;
      for (const source of sources) await post(source, n);
      for (const source of sources) expect((await emitted(source, n)).at(-1)).toEqual({ n, x: 'ebb@1.0.0' });
      await runner.start();
    }
    const fresh = await api.createSource({ component_code: code });
    await post(fresh, 1);
    expect(await emitted(fresh, 1)).toEqual([{ n: 1, x: 'ebb@1.1.0' }]);
  }, 300_000);
});

describe('a process killed between the install of packages and the commit of their component', () => {
  it.each([
    ['with a folder of its own', 2, 2],
    ['with a folder that another process uses', 0, 1],
  ])(
    '%s, leaves nothing behind that a repeat minds',
    async (_, killed, next) => {
      const name = `flood-${killed}`;
      await publish(name, '1.0.0');
      const code = using(name, 'await new Promise((resolve) => setTimeout(resolve, 3_000));');
      const server = taker(killed);
      const folder = killed === 2 ? join(server.dataDir, 'packages') : join(deployment.dataDir, 'packages');
      const before = treesOf(folder).filter((each) => !each.startsWith('new-')).length;
      const cut = save(takers[killed] as ApiClient, code).catch((error: unknown) => error);
      await eventually('the packages are installed', () =>
        treesOf(folder).filter((each) => !each.startsWith('new-')).length > before ? true : undefined,
      );
      await server.kill9();
      expect(await cut).toBeInstanceOf(Error);
      expect(await usersOf(name)).toEqual([]);
      await server.start();
      const again = await save(takers[next] as ApiClient, code);
      expect(again.data.packages).toMatchObject({ count: 1, cached: true });
      expect(await usersOf(name)).toEqual([again.data.id]);
      const source = await (takers[killed] as ApiClient).createSource({ component_code: code });
      expect(source.component_id).toBe(again.data.id);
      await post(source, 1);
      expect(await emitted(source, 1)).toEqual([{ n: 1, x: `${name}@1.0.0` }]);
      expect(treesOf(folder).filter((each) => each.startsWith('new-'))).toEqual([]);
    },
    240_000,
  );
});

describe('the projector killed while it notes which components use a package', () => {
  it('notes each of them once after its start', async () => {
    await publish('tally', '1.0.0');
    const [projector] = deployment.processes.projector;
    if (!projector) throw new Error('there is no projector');
    const first = save(api, using('tally'));
    const saving = [first, ...Array.from({ length: 14 }, () => first.then(() => save(api, using('tally'))))];
    const ids = Promise.all(saving.map(async (each) => (await each).data.id));
    await eventually('some are noted', async () => ((await usersOf('tally')).length > 2 ? true : undefined), 60_000, 5);
    await projector.kill9();
    await projector.start();
    const saved = [...(await ids)].sort();
    expect(new Set(saved).size).toBe(15);
    // A command is answered without its read models when they take too long.
    const noted = await eventually(
      'all are noted',
      async () => {
        const users = await usersOf('tally@1.0.0');
        return users.length >= saved.length ? users : undefined;
      },
      60_000,
      200,
    );
    expect([...noted].sort()).toEqual(saved);
  }, 240_000);
});

describe('a rebuild of the read models', () => {
  it('lists the same uses of packages, dropped ones left out', async () => {
    const wanted = ['ebb', 'ebb@1.0.0', 'ebb@1.1.0', 'tally', 'tally@1.0.0'];
    const uses = (): Promise<readonly (readonly string[])[]> => Promise.all(wanted.map(usersOf));
    const before = await uses();
    expect(before.map(({ length }) => length)).toEqual([1, 0, 1, 15, 15]);
    const { projector, 'query-api': readers } = deployment.processes;
    await Promise.all(projector.map((server) => server.stop()));
    await sluice({ ...deployment.settings, SLUICE_DATA_DIR: join(deployment.dataDir, 'rebuild') }, 'rebuild');
    for (const reader of readers) await reader.restart();
    expect(await uses()).toEqual(before);
    await Promise.all(projector.map((server) => server.start()));
  }, 180_000);
});

describe('a runner without the npm packages of its sources', () => {
  it('lets events wait, says so once, and runs them in order when it has them', async () => {
    await publish('gone', '1.0.0');
    const source = await api.createSource({ component_code: using('gone') });
    await post(source, 1);
    await emitted(source, 1);
    for (const runner of deployment.processes.runner) {
      await runner.stop();
      rmSync(join(runner.dataDir, 'packages'), { recursive: true, force: true });
      runner.setting('SLUICE_NPM_OFFLINE', 'true');
      await runner.start();
    }
    for (const n of [2, 3]) await post(source, n);
    expect(JSON.stringify(await emitted(source, 1, '$errors'))).toMatch(/PackageUnavailable.*gone/);
    for (const runner of deployment.processes.runner) {
      await runner.stop();
      runner.setting('SLUICE_NPM_OFFLINE', 'false');
      await runner.start();
    }
    expect(await emitted(source, 3)).toEqual([1, 2, 3].map((n) => ({ n, x: 'gone@1.0.0' })));
  }, 240_000);
});
