import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { codeOf, FakeInspector } from '#libs/components/testing/fakes.js';
import { loadConfig } from '#libs/config/index.js';
import { type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { openEngines } from '#libs/engines/embedded/testing/open-engines.js';
import { ENGINE_ERRORS, faultOfAny, FULL_ERRORS } from '#libs/engines/testing/engine-errors.js';
import { ResponseRelay } from '#libs/ingress/response-relay.js';
import { systemClock } from '#libs/kernel/clock.js';
import { commandHandler } from '#libs/kernel/handle-command.js';
import { sourceTopics } from '#libs/runner/source/source-topics.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { type OnSettled } from '#libs/stream-log/stream-log.js';
import { createLogger, Metrics, NestLogger, Readiness } from '#libs/telemetry/index.js';
import { bootstrap, setUpUser } from '#libs/tenancy/index.js';
import { appEventsOf, type ApiOptions, createApi, manualRunsOf, workflowInvokesOf } from './api.js';
import { startControlPlane, type WholeControlPlane } from './control-plane.js';
import { endpointUrls } from './start.js';
import { type Engines } from './engines.js';
import { httpBytesOf } from './pressure.js';
import { streamReadModels } from './read-models.js';
import { topicPolicy } from './topic-policy.js';
import { webhookTopics } from '#libs/delivery/webhook-topics.js';

/** Ports that the API calls. */
const PORTS = ['events', 'readModels', 'log', 'vault', 'blobs', 'records', 'usage', 'delayed', 'due'] as const;
type Port = (typeof PORTS)[number];

/** The failing method of a port, or all methods of all ports. */
let failing: { readonly method: string; readonly error: Error } | undefined;
/** Methods that failed. */
const failed = new Set<string>();
/** Methods that the present request has called. */
let called = new Set<string>();

/** A port whose methods fail on request. */
const breakable = <P extends object>(name: Port, port: P): P =>
  new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function' || typeof property !== 'string') return value;
      const method = value as (this: P, ...args: unknown[]) => unknown;
      const key = `${name}.${property}`;
      return (...args: unknown[]): unknown => {
        called.add(key);
        if (failing?.method !== '*' && failing?.method !== key) return method.apply(target, args);
        const { error } = failing;
        failed.add(key);
        if (key === 'log.publishEach') {
          (args[0] as unknown[]).forEach((_, index) => (args[1] as OnSettled)(index, error));
          return undefined;
        }
        if (['events.read', 'events.subscribe', 'blobs.hashes'].includes(key)) return thrower(error);
        return Promise.reject(error);
      };
    },
  });

const thrower = (error: Error): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
});

const methodsOf = (engines: EmbeddedEngines): readonly string[] =>
  PORTS.flatMap((name) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(engines[name]))
      .filter((property) => property !== 'constructor')
      .map((property) => `${name}.${property}`),
  );

const KEY = 'key-of-the-owner-of-this-spec';
let dir: string;
let engines: EmbeddedEngines;
let plane: WholeControlPlane;
let projectors: readonly StreamProjector[] = [];
let app: NestExpressApplication;
let url: string;
let ids: Readonly<Record<string, string>>;

const apiOf = async (): Promise<NestExpressApplication> => {
  const config = loadConfig({ SLUICE_DATA_DIR: dir, SLUICE_API_RATE: '0' }, () => undefined);
  const whole: Engines = engines;
  const ports = Object.fromEntries(PORTS.map((name) => [name, breakable(name, whole[name])]));
  const broken: Engines = { ...engines, ...(ports as Pick<Engines, Port>), faultOf: faultOfAny };
  const { events, log, due, delayed } = broken;
  const handleCommand = commandHandler({ store: events, upcasters: plane.upcasters });
  const failingPlane = { ...plane, engines: broken, handleCommand };
  const topics = topicPolicy(config);
  const logger = createLogger({ level: 'silent', role: 'spec' });
  const door = { refusal: () => undefined };
  const parts = { config, plane: failingPlane, topics, log: logger };
  const forget = (): Promise<void> => Promise.resolve();
  const unused = (): never => {
    throw new Error('not used');
  };
  const options: ApiOptions = {
    ...parts,
    publicUrl: 'http://127.0.0.1:3000',
    bytes: httpBytesOf(config),
    readYourWrites: plane.projectors,
    hookRunner: { runHook: async () => ({ status: 'ok', logs: [] }), operationEnded: forget },
    manualRuns: manualRunsOf(parts, new ResponseRelay(), door),
    runSteering: { steer: unused },
    workflowInvokes: workflowInvokesOf(parts, new ResponseRelay(), door),
    appEvents: appEventsOf(parts, door),
    sourceTopics: sourceTopics({ log, topics, journal: engines.journal, ticks: engines.ticks, delayed, due, forget }),
    webhookTopics: webhookTopics(log, topics, due),
    appliedEvents: { waitApplied: async () => true },
    inspector: new FakeInspector(),
    caller: { call: async () => ({ status: 'ok', value: '{}', logs: [] }) as never },
    definitions: { readYaml: unused, locate: unused, parse: unused },
    packages: { install: unused },
    egress: {} as ApiOptions['egress'],
    urls: endpointUrls(config, 'http://localhost'),
    metrics: new Metrics(),
    readiness: new Readiness(),
    logger: new NestLogger(logger),
    shuttingDown: () => false,
    serves: 'everything',
  };
  return createApi(options);
};

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-faults-'));
  engines = await openEngines(dir);
  const onFailure = (error: Error): void => {
    throw error;
  };
  plane = await startControlPlane(engines, systemClock, onFailure, onFailure);
  projectors = streamReadModels(loadConfig({ SLUICE_DATA_DIR: dir }, () => undefined)).map(
    ({ projection }) => new StreamProjector({ ...engines, projection, onFailure }),
  );
  for (const each of projectors) await each.start();
  const owner = await bootstrap({ ...plane, callers: plane.views.callers }, KEY);
  if (owner.position !== undefined) await plane.projectors.waitFor(owner.position, 10_000);
  app = await apiOf();
  await app.listen(0, '127.0.0.1');
  url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  ids = { workspace: owner.workspaceId };
}, 60_000);

afterAll(async () => {
  failing = undefined;
  await app.close();
  for (const each of projectors) await each.stop();
  await plane.projectors.stop();
  await plane.usage.close();
  await engines.close();
  rmSync(dir, { recursive: true });
});

const ask = (method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${KEY}`, connection: 'close', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const reply = async <T>(method: string, path: string, body?: unknown): Promise<{ readonly data: T } & T> => {
  const answer = await ask(method, path, body);
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { data: T } & T;
};

interface Made {
  readonly [kind: string]: string;
}
let made = 0;
const idOf = async (path: string, body: unknown): Promise<string> =>
  (await reply<{ id: string }>('POST', path, body)).data.id;

/** One resource of each kind, so that every route finds one. */
const make = async (): Promise<Made> => {
  const n = ++made;
  const component = codeOf({ salt: n, kind: 'source', key: `c-${n}`, version: '0.0.1' });
  const [source, webhook, store, account] = [
    await idOf('/v1/sources', { component_code: component, name: `s${n}` }),
    await idOf('/v1/webhooks?url=http://example.com/', undefined),
    await idOf('/v1/data_stores', { name: `d${n}` }),
    await idOf('/v1/accounts', { app: 'app', credentials: { api_key: 'x' } }),
  ];
  await ask('PUT', `/v1/data_stores/${store}/records/k`, { value: 1 });
  const apiKey = await idOf('/v1/api_keys', { name: `k${n}` });
  const query = `emitter_id=${source}&listener_id=${webhook}`;
  const subscription = await idOf(`/v1/subscriptions?${query}`, undefined);
  return { ...ids, user: await member(n), source, webhook, store, account, apiKey, subscription, component };
};

/** Another member of the workspace, because the last owner would leave it with everything in it. */
const member = async (n: number): Promise<string> => {
  const name = `member-${n}`;
  const setUp = { ...plane, callers: plane.views.callers };
  const { userId, position } = await setUpUser(setUp, {
    username: name,
    email: `${name}@x.example`,
    workspaceName: name,
  });
  if (position !== undefined) await plane.projectors.waitFor(position, 10_000);
  await reply('POST', `/v1/workspaces/${ids['workspace']}/members`, { user_id: userId, role: 'member' });
  return userId;
};

type Route = readonly [method: string, path: string, body?: unknown];

/** Every documented route, reads first and deletions last. */
const routes = async (m: Made): Promise<readonly Route[]> => {
  const doc = (await (await ask('GET', '/v1/openapi.json')).json()) as { paths: Record<string, object> };
  const all = Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => ['get', 'post', 'put', 'delete'].includes(method))
      .map((method): Route => [method.toUpperCase(), concrete(path, m), bodyOf(method, path, m)]),
  );
  const order = ['GET', 'PUT', 'POST', 'DELETE'];
  const resumed: Route = ['GET', `/v1/sources/${m['source']}/sse?last_event_id=1-0`];
  return [resumed, ...all.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))];
};

const concrete = (path: string, m: Made): string => {
  const kinds: readonly (readonly [RegExp, string])[] = [
    [/^\/v1\/(sources|audit)\//, 'source'],
    [/^\/v1\/(orgs|workspaces)\//, 'workspace'],
    [/^\/v1\/webhooks\//, 'webhook'],
    [/^\/v1\/data_stores\//, 'store'],
    [/^\/v1\/accounts\//, 'account'],
    [/^\/v1\/api_keys\//, 'apiKey'],
    [/^\/v1\/subscriptions\//, 'subscription'],
  ];
  const kind = kinds.find(([pattern]) => pattern.test(path))?.[1] ?? '';
  const query: Readonly<Record<string, string>> = {
    '/v1/subscriptions': `?emitter_id=${m['source']}&listener_id=${m['webhook']}`,
    '/v1/auto_subscriptions': `?event_name=&listener_id=${m['webhook']}`,
    '/v1/webhooks': '?url=http://example.com/',
  };
  const filled = path
    .replace('{userId}', m['user'] ?? '')
    .replace('{workspaceId}', m['workspace'] ?? '')
    .replace('{key}', 'k')
    .replace('{slug}', 'app')
    .replace('{deliveryId}', 'dlv_1')
    .replace('{keyOrId}', `c-${made}`)
    .replace(/\{(id|idOrSlug)\}/, m[kind] ?? 'x');
  return filled + (query[path] ?? '');
};

const bodyOf = (method: string, path: string, m: Made): unknown => {
  if (method === 'get' || method === 'delete') return undefined;
  const bodies: Readonly<Record<string, unknown>> = {
    '/v1/sources': { component_code: codeOf({ salt: `new-${made}` }) },
    '/v1/components': { component_code: codeOf({ salt: `saved-${made}` }) },
    '/v1/components/props': { id: `c-${made}`, configured_props: {} },
    '/v1/components/configure': { id: `c-${made}`, prop_name: 'x', configured_props: {} },
    '/v1/actions/run': { id: `c-${made}`, configured_props: {} },
    '/v1/data_stores': { name: `other-${made}` },
    '/v1/accounts': { app: 'app', credentials: { api_key: 'y' } },
    '/v1/api_keys': { name: 'other' },
    '/v1/data_stores/{id}/records/{key}': { value: 2 },
    '/v1/accounts/{id}': { name: 'renamed', credentials: { api_key: 'z' } },
    '/v1/apps/{slug}/events': { event_name: 'x', payload: {} },
    '/v1/workspaces/{id}/members': { user_id: m['user'] },
    '/v1/workspaces/{id}/members/{userId}': { role: 'owner' },
    '/v1/sources/{id}/error_emails': { enabled: false },
  };
  return bodies[path] ?? { name: `named-${made}` };
};

/** For each route, by its place in `routes`, the methods of ports that it calls while nothing fails. */
const calls: (ReadonlySet<string> | undefined)[] = [];

/**
 * Requests every route that passes the filter while `failing` fails. Returns those answered 500, or 503 without its
 * header.
 */
const walk = async (
  what: NonNullable<typeof failing>,
  isAsked: (place: number) => boolean = () => true,
): Promise<readonly string[]> => {
  const all = await routes(await make());
  const wrong: string[] = [];
  for (const [place, [method, path, body]] of all.entries()) {
    if (!isAsked(place)) continue;
    called = new Set();
    failing = what;
    const answer = await ask(method, path, body)
      .catch((error: unknown) => `${what.method}: ${method} ${path}: ${String(error)}`)
      .finally(() => (failing = undefined));
    if (typeof answer === 'string') {
      wrong.push(answer);
      continue;
    }
    const text = answer.headers.get('content-type')?.startsWith('text/event-stream') ? '' : await answer.text();
    await answer.body?.cancel().catch(() => undefined);
    if (what.method === 'none') calls[place] = called;
    const isTrue = answer.status !== 503 || answer.headers.has('retry-after');
    if (answer.status >= 500 && (answer.status !== 503 || !isTrue))
      wrong.push(`${what.method}: ${method} ${path}: ${answer.status} ${text}`);
  }
  return wrong;
};

// docs/reference/errors.md#engines
describe('a route of the API', () => {
  it('works while no engine fails (control)', async () => {
    const wrong = await walk({ method: 'none', error: new Error('unused') });
    expect(wrong).toEqual([]);
  }, 60_000);

  it('answers a bug with 500 (control)', async () => {
    expect((await walk({ method: '*', error: new TypeError('x is undefined') })).length).toBeGreaterThan(20);
  }, 60_000);

  it.each([ENGINE_ERRORS[0]!, ENGINE_ERRORS[15]!, ENGINE_ERRORS[20]!, ENGINE_ERRORS[26]!, FULL_ERRORS[2]!])(
    'is never answered 500 while everything fails: %s',
    async (_, error) => {
      expect(await walk({ method: '*', error })).toEqual([]);
    },
    60_000,
  );

  it('is never answered 500 while one method of a port fails, whichever it calls', async () => {
    await walk({ method: 'none', error: new Error('unused') });
    failed.clear();
    const wrong: string[] = [];
    for (const [n, method] of methodsOf(engines).entries()) {
      if (!calls.some((each) => each?.has(method))) continue;
      const [, error] = ENGINE_ERRORS[n % ENGINE_ERRORS.length]!;
      wrong.push(...(await walk({ method, error }, (place) => calls[place]?.has(method) === true)));
    }
    expect(wrong).toEqual([]);
    // The walk reached the ports.
    expect(failed.size).toBeGreaterThan(20);
  }, 300_000);
});
