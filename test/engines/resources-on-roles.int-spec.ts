import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, type Data, type Source } from '#test/harness/api-client.js';
import { clientOf } from '#test/harness/client-of.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { Deployment } from '#test/harness/deployment.js';
import { jsonOf } from '#test/harness/http.js';
import { Instance } from '#test/harness/instance.js';
import { type Server } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

/** Two processes of each role that these features have state in. A test that kills one starts it again. */
const registryDir = tempDir('registry');
let instance: Instance<Deployment>;
/** Clients of the two processes that take commands, which bypass the proxy. */
let takers: readonly [ApiClient, ApiClient];

beforeAll(async () => {
  const copies = { 'command-api': 2, runner: 2, router: 2, scheduler: 2 };
  instance = new Instance(
    new Deployment({
      copies,
      env: { SLUICE_REGISTRY_DIR: registryDir, SLUICE_TOPICS: 'shared' },
    }),
  );
  await instance.start();
  const [first, second] = processes('command-api').map((server) => clientOf(server, instance.server));
  if (!first || !second) throw new Error('there are no two processes');
  takers = [first, second];
}, 400_000);

afterAll(async () => {
  await Promise.all(takers.map((client) => client.close()));
  await instance.close();
  removeDir(registryDir);
}, 120_000);

const processes = (role: 'command-api' | 'runner' | 'router' | 'scheduler'): readonly Server[] =>
  instance.server.processes[role];
/** Kills each process of a role in turn, with `act` while it is away. */
const killInTurn = async (role: 'runner' | 'router' | 'scheduler', act: () => Promise<void>): Promise<void> => {
  for (const server of processes(role)) {
    await server.kill9();
    await act();
    await server.start();
  }
};

describe('events of apps', () => {
  const hooked = (app: string): string =>
    componentCode({
      props: `chat: { type: 'app', app: '${app}' }, word: 'string',
        hook: { type: '$.interface.apphook', appProp: 'chat', eventNames() { return [this.word]; } }`,
      members: 'run(event) { this.$emit(event); },',
    });
  const send = async (client: ApiClient, app: string, event_name: string, payload: unknown = {}) => {
    const body = { event_name, payload };
    const path = `/v1/apps/${app}/events`;
    const { data } = await client.expect<Data<{ invocations: { source_id: string }[] }>>(202, 'POST', path, { body });
    return data.invocations.map(({ source_id }) => source_id).sort();
  };

  it('sent to one process reach the sources that the other has just deployed, changed and turned off', async () => {
    for (let n = 0; n < 6; n++) {
      const [one, other] = n % 2 === 0 ? takers : [takers[1], takers[0]];
      const app = `chat-${n}`;
      const source = await one.createSource({ component_code: hooked(app), configured_props: { word: 'first' } });
      expect(await send(other, app, 'first')).toEqual([source.id]);
      const put = (client: ApiClient, body: object): Promise<unknown> =>
        client.expect(200, 'PUT', `/v1/sources/${source.id}`, { body });
      await put(other, { configured_props: { word: 'second' } });
      expect([await send(one, app, 'first'), await send(one, app, 'second')]).toEqual([[], [source.id]]);
      await put(one, { active: false });
      expect(await send(other, app, 'second')).toEqual([]);
    }
  }, 180_000);

  it('are kept although the process that took them and the runners are killed', async () => {
    const sources = await Promise.all(
      Array.from({ length: 4 }, () => instance.deploy(hooked('kept'), { word: 'message' })),
    );
    const ids = sources.map(({ id }) => id).sort();
    let n = 0;
    const sendOne = async (client: ApiClient): Promise<void> =>
      expect(await send(client, 'kept', 'message', { n: ++n })).toEqual(ids);
    for (const [i, server] of processes('command-api').entries()) {
      await sendOne(takers[i] as ApiClient);
      await server.kill9();
      await sendOne(takers[1 - i] as ApiClient);
      await server.start();
    }
    await killInTurn('runner', () => sendOne(takers[0]));
    for (const source of sources) {
      const all = Array.from({ length: n }, (_, i) => i + 1);
      await eventually(
        `all events at ${source.id}`,
        async () => {
          const { data } = await instance.api.summaries(source.id, { expand: 'event' });
          const got = new Set(data.map(({ event }) => (event as { n: number }).n));
          return all.every((each) => got.has(each)) ? true : undefined;
        },
        60_000,
      );
    }
  }, 240_000);
});

describe('a data store', () => {
  const CODE = componentCode({
    props: `${CUSTOM_HTTP}, store: { type: 'data_store' }`,
    members: `async run({ body }) {
      let answer;
      try { answer = await this.store.incr('n', body.by); } catch (e) { answer = e.code; }
      this.http.respond({ status: 200, body: { answer } });
    },`,
  });

  it('is one for the sources of all runners: it is made once, counts exactly, and is gone everywhere at once', async () => {
    const body = { component_code: CODE, configured_props: { store: 'tally' } };
    const sources = await Promise.all(
      Array.from({ length: 6 }, (_, n) => (takers[n % 2] as ApiClient).createSource(body)),
    );
    const stores = new Set(sources.map(({ configured_props: props }) => String(props['store'])));
    expect(stores.size).toBe(1);
    const [store = ''] = stores;
    const add = async (source: Source): Promise<unknown> =>
      (jsonOf(await instance.post(source, { by: 3 })) as { answer: unknown }).answer;
    const answers = await Promise.all(Array.from({ length: 5 }, () => sources.map(add)).flat());
    expect([...answers].sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 30 }, (_, n) => 3 * (n + 1)),
    );
    const running = processes('runner').map((runner) => metricOf(runner, /^sluice_sandboxes\{.*\} (\d+)$/gm));
    for (const sandboxes of await Promise.all(running)) expect(sandboxes).toBeGreaterThan(0);
    const path = `/v1/data_stores/${store}`;
    expect(await instance.api.expect(200, 'GET', `${path}/records/n`)).toMatchObject({ data: { value: 90 } });
    await takers[0].expect(204, 'DELETE', path);
    for (const source of sources) expect(await add(source)).toBe('data_store.not_found');
  }, 180_000);
});

/** Sum of the figures that a pattern finds among the metrics of a process. */
const metricOf = async (server: Server, pattern: RegExp): Promise<number> => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return [...text.matchAll(pattern)].reduce((sum, [, figure]) => sum + Number(figure), 0);
};

describe('events that wait', () => {
  it('go out once with their id or are cancelled, although schedulers, routers and runners are killed', async () => {
    const code = componentCode({
      members: `run({ body }) {
        for (let n = 0; n < 6; n++) this.$emit({ n }, { id: 'e' + n, delivery_ts: body.at });
      },`,
    });
    const sources = await Promise.all(Array.from({ length: 3 }, () => instance.deploy(code)));
    const at = Date.now() + 25_000;
    for (const source of sources) expect((await instance.post(source, { at })).status).toBe(200);
    const listed = async (source: Source) =>
      (await instance.api.summaries(source.id, { event_name: '$in' })).data.map(({ id, metadata }) => ({
        id,
        emitId: metadata.emit_id,
        event: String(metadata['id']),
      }));
    const waiting = new Map<string, Awaited<ReturnType<typeof listed>>>();
    for (const source of sources)
      waiting.set(
        source.id,
        await eventually(`six events of ${source.id} wait`, async () => {
          const found = await listed(source);
          return found.length === 6 ? found : undefined;
        }),
      );
    await killInTurn('scheduler', async () => undefined);
    const cancelled = (id: string): boolean => ['e0', 'e3'].includes(id);
    for (const [source, events] of waiting)
      for (const { id, event } of events) {
        const query = { event_name: '$in', start_id: id, end_id: id };
        if (cancelled(event)) await instance.api.expect(202, 'DELETE', `/v1/sources/${source}/events`, { query });
      }
    await killInTurn('runner', async () => undefined);
    // One of these is away when the events are due.
    await killInTurn('router', async () => undefined);
    for (const source of sources) {
      const out = await instance.history(source, 4, undefined, 90_000);
      const expected = waiting.get(source.id)?.filter(({ event }) => !cancelled(event));
      const ids = (found: readonly string[] = []): readonly string[] => [...found].sort();
      expect(ids(out.map(({ metadata }) => metadata.emit_id))).toEqual(ids(expected?.map(({ emitId }) => emitId)));
      expect(await listed(source)).toEqual([]);
    }
    expect(Date.now()).toBeGreaterThan(at);
  }, 240_000);
});

describe('a source with code above 1 MiB and all the values that it may have, which EventStoreDB refuses in one append', () => {
  it('is deployed, runs, and is changed, as on the embedded engine', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `text${n}`);
    // In JSON each character takes two, and all values together 1,048,575 bytes: one less than the limit.
    const values = Object.fromEntries(names.map((name) => [name, '"'.repeat(43_680)]));
    const code = componentCode({
      head: `const large = '${'x'.repeat(750_000)}';`,
      props: `http: '$.interface.http', ${names.map((name) => `${name}: 'string'`).join(', ')}`,
      members: `run() {
        const texts = [${names.map((name) => `this.${name}`).join(', ')}];
        this.$emit([large.length, texts.join('').length, this.text0[0]]);
      },`,
    });
    const deployed = await eventually('every process announces that it reads such an event', async () => {
      const create = { component_code: code, configured_props: values };
      const { status, body } = await takers[0].call<Data<Source>>('POST', '/v1/sources', { body: create });
      return status === 503 ? undefined : { status, source: body.data };
    });
    expect(deployed).toMatchObject({ status: 200 });
    const { source } = deployed;
    await instance.post(source, {});
    expect(await instance.payloads(source, 1)).toEqual([[750_000, 524_160, '"']]);
    const body = { configured_props: { ...values, text0: '\\'.repeat(43_680) } };
    await takers[1].expect(200, 'PUT', `/v1/sources/${source.id}`, { body });
    await instance.post(source, {});
    expect((await instance.payloads(source, 2)).at(-1)).toEqual([750_000, 524_160, '\\']);
  }, 120_000);
});

describe('connections of components', () => {
  let outside: HttpServer;
  beforeAll(async () => {
    outside = createServer((_, res) => res.setHeader('connection', 'close').end('x'.repeat(5_000)));
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void outside.close());

  it('are counted for their source by the runner that has it', async () => {
    const { port } = outside.address() as AddressInfo;
    const code = componentCode({
      members: `async run() { this.$emit((await (await fetch('http://127.0.0.1:${port}/')).text()).length); },`,
    });
    const sources = await Promise.all([instance.deploy(code), instance.deploy(code)]);
    for (const source of sources) {
      for (let n = 1; n <= 2; n++) {
        await instance.post(source, {});
        expect(await instance.payloads(source, n)).toContain(5_000);
      }
      const figures = (name: string) =>
        Promise.all(
          processes('runner').map((each) =>
            metricOf(each, new RegExp(`^sluice_egress_${name}\\{source="${source.id}"\\} (\\d+)$`, 'gm')),
          ),
        );
      const connections = await eventually('both are counted', async () => {
        const found = [...(await figures('connections'))].sort();
        return found[1] === 2 ? found : undefined;
      });
      expect(connections).toEqual([0, 2]);
      const [none, received = 0] = [...(await figures('received_bytes'))].sort((a, b) => a - b);
      expect(none).toBe(0);
      expect(received).toBeGreaterThanOrEqual(10_000);
    }
  }, 120_000);

  it('of single runs are counted together by the process that took the request', async () => {
    const { port } = outside.address() as AddressInfo;
    const [client] = takers;
    const code = componentCode({
      props: '',
      members: `type: 'action', async run() { return (await (await fetch('http://127.0.0.1:${port}/')).text()).length; },`,
    });
    const { id } = await client.createComponent(code);
    const ran = await client.expect(200, 'POST', '/v1/actions/run', { body: { id, configured_props: {} } });
    expect(ran).toMatchObject({ ret: 5_000 });
    const counted = (server: Server): Promise<number> =>
      metricOf(server, /^sluice_egress_connections\{source="calls"\} (\d+)$/gm);
    const [first, second] = processes('command-api') as [Server, Server];
    await eventually('it is counted', async () => ((await counted(first)) === 1 ? true : undefined));
    expect(await counted(second)).toBe(0);
  }, 60_000);
});

describe('the registry', () => {
  const put = (version: string, name = 'new-order'): void => {
    const file = join(registryDir, 'parts', 'shop', 'sources', name, `${name}.mjs`);
    mkdirSync(dirname(file), { recursive: true });
    const head = `export default { key: 'shop-${name}', name: 'N', version: '${version}'`;
    writeFileSync(file, `${head}, props: { http: '$.interface.http' }, run() { this.$emit('${version}'); } };`);
  };
  const listed = (client: ApiClient, version: string, name = 'new-order'): Promise<true> =>
    eventually(
      `${name} ${version} is listed`,
      async () => {
        const path = `/v1/components/registry/shop-${name}`;
        const reply = await client.call<Data<{ version: string }>>('GET', path);
        return (reply.status === 200 && reply.body.data.version === version) || undefined;
      },
      90_000,
      200,
    );

  it('is kept by one process, whichever is killed, and deploys from both', async () => {
    put('1.0.0');
    await listed(instance.api, '1.0.0');
    let patch = 0;
    for (const [i, server] of processes('command-api').entries()) {
      await server.kill9();
      put(`1.0.${++patch}`);
      await listed(instance.api, `1.0.${patch}`);
      const source = await (takers[1 - i] as ApiClient).createSource({ key: 'shop-new-order' });
      await instance.post(source, {});
      expect(await instance.payloads(source, 1)).toEqual([`1.0.${patch}`]);
      await server.start();
    }
  }, 240_000);
});
