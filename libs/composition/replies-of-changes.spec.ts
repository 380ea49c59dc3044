import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { loadConfig } from '#libs/config/index.js';
import { type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { openEngines } from '#libs/engines/embedded/testing/open-engines.js';
import { systemClock } from '#libs/kernel/clock.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { createLogger, Metrics, NestLogger, Readiness } from '#libs/telemetry/index.js';
import { bootstrap } from '#libs/tenancy/index.js';
import { webhook } from '#libs/webhooks/index.js';
import { account } from '#libs/accounts/index.js';
import { dataStore } from '#libs/data-stores/index.js';
import { type ApiOptions, createApi } from './api.js';
import { startControlPlane, type WholeControlPlane } from './control-plane.js';
import { httpBytesOf } from './pressure.js';
import { queriesOnly } from './queries-only.js';
import { topicPolicy } from './topic-policy.js';

const KEY = 'k'.repeat(40);
const TYPES: Readonly<Record<string, string>> = {
  wh: 'webhook',
  ds: 'datastore',
  apn: 'account',
  dc: 'source',
  sub: 'subscription',
  sc: 'component',
  p: 'workflow',
};

const fail = (error: Error): never => {
  throw error;
};

interface Shown {
  readonly id: string;
  readonly revision: number;
  readonly [field: string]: unknown;
}
type Sent = Awaited<ReturnType<ReturnType<typeof request>['put']>>;

/** The whole API over the embedded engine in one process. A test can stop its read models. */
const startWorld = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-replies-'));
  const engines = await openEngines(dataDir);
  const interleaved: { next?: (stream: string) => Promise<void> } = {};
  const plane = await startControlPlane(
    { ...engines, events: withTurns(engines, interleaved) },
    systemClock,
    fail,
    fail,
  );
  const { userId, workspaceId } = await bootstrap({ ...plane, callers: plane.views.callers }, KEY);
  await plane.projectors.waitFor(await engines.events.lastPosition(), 5_000);
  const standing = { still: false };
  const app = await createApi(apiOptions(plane, standing));
  const standStill = (): Promise<void> => {
    standing.still = true;
    return plane.projectors.stop();
  };
  const call = (method: 'put' | 'post' | 'get', path: string, body: object = {}, ifMatch?: string): Promise<Sent> => {
    const sent = request(app.getHttpServer())[method](`/v1/${path}`).set('Authorization', `Bearer ${KEY}`);
    return ifMatch === undefined ? sent.send(body).then() : sent.set('If-Match', ifMatch).send(body).then();
  };
  return { dataDir, engines, plane, app, call, standStill, interleaved, userId, workspaceId };
};
type World = Awaited<ReturnType<typeof startWorld>>;

/** An event store that runs another command after its next write to a test's stream. */
const withTurns = (
  { events }: EmbeddedEngines,
  interleaved: { next?: (stream: string) => Promise<void> },
): EventStore =>
  new Proxy(events, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'append') return value.bind(target) as unknown;
      return async (...given: Parameters<EventStore['append']>) => {
        const appended = await target.append(...given);
        const { next } = interleaved;
        if (next && Object.values(TYPES).some((type) => given[0].startsWith(`${type}-`))) {
          delete interleaved.next;
          await next(given[0]);
        }
        return appended;
      };
    },
  });

const apiOptions = (plane: WholeControlPlane, standing: { readonly still: boolean }): ApiOptions => {
  const config = loadConfig({ SLUICE_SMTP_URL: 'smtp://127.0.0.1:1', SLUICE_EMAIL_FROM: 'sluice@example.com' });
  const metadata = { kind: 'source', name: 'Ticker', key: null, version: '1', description: null } as const;
  const rest = { annotations: null, dedupe: null, hooks: [], hasRun: true, hasAdditionalProps: false, methods: [] };
  const described = { ...metadata, ...rest, configurableProps: [], warnings: [] };
  const log = createLogger({ level: 'silent', role: 'standalone' });
  const nothing = async (): Promise<void> => undefined;
  return {
    // Its `egress` has no dispatcher, like that of query-api, so creating the API must not require one.
    ...queriesOnly,
    config,
    publicUrl: 'http://127.0.0.1:3000',
    plane,
    bytes: httpBytesOf(config),
    topics: topicPolicy(config),
    // Once the read models stand still, it answers without them, like one of several processes whose read models lag.
    readYourWrites: {
      waitFor: async (position, ms) => standing.still || (await plane.projectors.waitFor(position, ms)),
    },
    hookRunner: { runHook: async () => ({ status: 'ok', logs: [] }), operationEnded: nothing },
    sourceTopics: { create: nothing, remove: nothing },
    webhookTopics: { create: nothing, remove: nothing },
    inspector: { inspect: async (code) => ({ bundle: code, metadata: described }) },
    urls: { urlOf: (key) => `http://127.0.0.1/h/${key}` },
    metrics: new Metrics(),
    readiness: new Readiness(),
    logger: new NestLogger(log),
    log,
    shuttingDown: () => false,
    serves: 'everything',
  };
};

const dataOf = ({ status, text, body }: Sent): Shown => {
  if (status !== 200) throw new Error(`${status} ${text}`);
  return (body as { data: Shown }).data;
};

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(async () => {
  await world.app.close();
  await world.plane.projectors.stop();
  await world.engines.close();
  rmSync(world.dataDir, { recursive: true });
});

const code = (text: string) => ({ component_code: `export default { run() { ${text} } }` });
const account_ = { app: 'slack', credentials: { oauth_access_token: 'a', refresh_token: 'r' }, oauth: null };

/** Resources that exist before the read models stop. */
const made = async () => {
  const { call } = world;
  const create = async (path: string, body: object): Promise<Shown> => dataOf(await call('post', path, body));
  const resources = {
    webhook: await create('webhooks', { url: 'https://example.com/a' }),
    store: await create('data_stores', { name: 'one' }),
    account: await create('accounts', account_),
    source: await create('sources', { ...code('1'), name: 'first' }),
    listener: await create('webhooks', { url: 'https://example.com/b' }),
    workflow: await create('workflows', { name: 'first', triggers: [{ type: 'manual' }] }),
    deploy: await create('workflows', { name: 'first', draft: true }),
    rollback: await create('workflows', { name: 'first', triggers: [{ type: 'manual' }] }),
  };
  dataOf(await call('put', `workflows/${resources.rollback.id}`, { settings: { queue_size: 5 } }));
  await world.plane.projectors.waitFor(await world.engines.events.lastPosition(), 5_000);
  return resources;
};
type Made = Awaited<ReturnType<typeof made>>;

interface Change {
  /** Route of the description of the API. */
  readonly route: string;
  readonly make: (resources: Made) => readonly ['put' | 'post', path: string, body: object];
  /** Part of the reply that shows the change. */
  readonly shows: object;
  /** A further change by the same client, with the ETag of the reply. None where the route must find it in a read model. */
  readonly then?: (id: string) => readonly ['put', path: string, body: object];
}

const renamed = (path: string) => (id: string) => ['put', `${path}/${id}`, { name: 'then' }] as const;

const CHANGES: readonly Change[] = [
  {
    route: 'post /v1/webhooks',
    make: () => ['post', 'webhooks', { url: 'https://example.com/c', name: 'new' }],
    shows: { name: 'new', active: true, disabled_reason: null },
  },
  {
    route: 'put /v1/webhooks/{id}',
    make: ({ webhook: { id } }) => ['put', `webhooks/${id}`, { name: 'new', active: false }],
    shows: { name: 'new', active: false },
    then: renamed('webhooks'),
  },
  {
    route: 'post /v1/webhooks/{id}/regenerate_signing_key',
    make: ({ webhook: { id } }) => ['post', `webhooks/${id}/regenerate_signing_key`, {}],
    shows: { url: 'https://example.com/a' },
    then: renamed('webhooks'),
  },
  {
    route: 'post /v1/data_stores',
    make: () => ['post', 'data_stores', { name: 'new' }],
    shows: { name: 'new' },
  },
  {
    route: 'put /v1/data_stores/{id}',
    make: ({ store: { id } }) => ['put', `data_stores/${id}`, { name: 'new' }],
    shows: { name: 'new' },
    then: renamed('data_stores'),
  },
  {
    route: 'post /v1/accounts',
    make: () => ['post', 'accounts', { ...account_, name: 'new' }],
    shows: { name: 'new', healthy: true },
  },
  {
    route: 'put /v1/accounts/{id}',
    make: ({ account: { id } }) => ['put', `accounts/${id}`, { name: 'new' }],
    shows: { name: 'new' },
    then: renamed('accounts'),
  },
  {
    route: 'post /v1/sources',
    make: () => ['post', 'sources', { ...code('2'), name: 'new' }],
    shows: { name: 'new', active: true },
    then: renamed('sources'),
  },
  {
    route: 'put /v1/sources/{idOrSlug}',
    make: ({ source: { id } }) => ['put', `sources/${id}`, { name: 'new', active: false }],
    shows: { name: 'new', active: false },
    then: renamed('sources'),
  },
  {
    route: 'post /v1/subscriptions',
    make: ({ source, listener }) => [
      'post',
      'subscriptions',
      { emitter_id: source.id, listener_id: listener.id, filter: { n: 1 } },
    ],
    shows: { filter: { n: 1 } },
  },
  {
    route: 'post /v1/components',
    make: () => ['post', 'components', code('3')],
    shows: { name: 'Ticker' },
  },
  {
    route: 'post /v1/workflows',
    make: () => ['post', 'workflows', { name: 'new', triggers: [{ type: 'manual' }] }],
    shows: { name: 'new', active: true, version: 1 },
    then: renamed('workflows'),
  },
  {
    route: 'put /v1/workflows/{id}',
    make: ({ workflow: { id } }) => ['put', `workflows/${id}`, { name: 'new', active: false }],
    shows: { name: 'new', active: false },
    then: renamed('workflows'),
  },
  ...(['deploy', 'rollback'] as const).map((action): Change => ({
    route: `post /v1/workflows/{id}/${action}`,
    make: (of) => ['post', `workflows/${of[action].id}/${action}`, action === 'deploy' ? {} : { version: 1 }],
    shows: { version: action === 'deploy' ? 1 : 3, active: true, has_draft: false },
    then: renamed('workflows'),
  })),
];

const lastRevision = async (id: string): Promise<number> => {
  let last = -1;
  const type = TYPES[id.slice(0, id.indexOf('_'))] ?? '';
  for await (const { revision } of world.engines.events.read(`${type}-${id}`)) last = Number(revision);
  return last;
};

// docs/reference/rest-api.md#reply-of-a-change #etag #if-match
describe('the reply to a change, while the read models stand still', () => {
  it.each(CHANGES)('of $route has the state, revision and ETag that the change left', async (change) => {
    const { call } = world;
    const resources = await made();
    await world.standStill();
    const reply = await call(...change.make(resources));
    const { id, revision } = dataOf(reply);
    expect([revision, reply.headers['etag']]).toEqual([await lastRevision(id), `"${revision}"`]);
    expect(dataOf(reply)).toMatchObject(change.shows);

    if (!change.then) return;
    const further = change.then(id);
    const after = await call(...further, `"${revision}"`);
    expect(dataOf(after)).toMatchObject({ id, name: 'then', revision: await lastRevision(id) });
    // The former tag no longer matches.
    expect((await call(...further, `"${revision}"`)).status).toBe(412);
  });

  it.each(CHANGES.filter(({ route }) => route.startsWith('put')))(
    'of $route is the same when nothing changes',
    async (change) => {
      const { call } = world;
      const resources = await made();
      await world.standStill();
      const first = dataOf(await call(...change.make(resources)));
      expect(dataOf(await call(...change.make(resources)))).toEqual(first);
    },
  );

  it('is walked here for every route whose reply has a revision', async () => {
    const document = (await world.call('get', 'openapi.json')).body as OpenApi;
    const isChange = (method: string) => ['put', 'post', 'patch'].includes(method);
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method, operation]) => isChange(method) && hasRevision(document, operation.responses))
        .map(([method]) => `${method} ${path}`),
    );
    expect(routes.sort()).toEqual(CHANGES.map(({ route }) => route).sort());
  });

  // docs/reference/rest-api.md#error-emails
  it('of the switch of error emails has its new state', async () => {
    const { source } = await made();
    await world.standStill();
    const put = async (enabled: boolean) =>
      dataOf(await world.call('put', `sources/${source.id}/error_emails`, { enabled }));
    expect(await put(true)).toEqual({ source_id: source.id, enabled: true, user_id: world.userId });
    expect(await put(false)).toEqual({ source_id: source.id, enabled: false, user_id: null });
  });

  // docs/reference/rest-api.md#account-credentials-shown
  it('of a read of credentials, which is logged, has the revision that it left', async () => {
    const { account: connected } = await made();
    await world.standStill();
    const shown = await world.call('get', `accounts/${connected.id}?include_credentials=true`);
    expect([shown.status, shown.headers['etag']]).toEqual([200, `"${await lastRevision(connected.id)}"`]);
    const { status } = await world.call('put', `accounts/${connected.id}`, { name: 'x' }, shown.headers['etag']);
    expect(status).toBe(200);
  });
});

describe('the reply to a change, when another comes right after it', () => {
  const context = () => ({
    commandId: newCommandId(),
    correlationId: 'c',
    causationId: 'c',
    actor: { userId: world.userId, apiKeyId: null },
    workspaceId: world.workspaceId,
  });
  /** Lets another command change the same resource between the write of the next change and its answer. */
  const interleave = (id: string): void => {
    const { handleCommand, projectors } = world.plane;
    const now = Date.now();
    world.interleaved.next = async (stream) => {
      const { position } = await (stream.startsWith('webhook')
        ? handleCommand(webhook, id, { type: 'disable', reason: 'dead', now }, context())
        : stream.startsWith('account')
          ? handleCommand(account, id, { type: 'update', changes: { name: 'other' }, now }, context())
          : handleCommand(dataStore, id, { type: 'rename', name: 'other', now }, context()));
      if (position === undefined) throw new Error('the other command changed nothing');
      await projectors.waitFor(position, 5_000);
    };
  };

  it.each([
    ['webhooks', 'webhook', { active: true, disabled_reason: null }],
    ['accounts', 'account', {}],
    ['data_stores', 'store', {}],
  ] as const)('of %s shows nothing of the other, and its ETag tells that there was one', async (path, kind, shows) => {
    const { id, revision } = (await made())[kind];
    interleave(id);
    const reply = await world.call('put', `${path}/${id}`, { name: 'mine' });
    expect(dataOf(reply)).toMatchObject({ name: 'mine', revision: revision + 1, ...shows });
    expect([reply.headers['etag'], await lastRevision(id)]).toEqual([`"${revision + 1}"`, revision + 2]);
    expect((await world.call('put', `${path}/${id}`, { name: 'again' }, reply.headers['etag'])).status).toBe(412);
  });

  it('of a new signing key shows nothing of the other', async () => {
    const { id } = (await made()).webhook;
    interleave(id);
    const reply = dataOf(await world.call('post', `webhooks/${id}/regenerate_signing_key`));
    expect(reply).toMatchObject({ revision: 1, active: true, disabled_reason: null });
  });
});

interface OpenApi {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, unknown> }>>;
}

/** Whether a success of the operation has `data.revision`. */
const hasRevision = (document: OpenApi, responses: Record<string, unknown>): boolean => {
  const follow = (schema: unknown): Record<string, unknown> => {
    const found = schema as Record<string, unknown> | undefined;
    const ref = found?.['$ref'];
    if (typeof ref !== 'string') return found ?? {};
    return ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document) as Record<string, unknown>;
  };
  const field = (schema: unknown, name: string): unknown =>
    (follow(schema)['properties'] as Record<string, unknown> | undefined)?.[name];
  return Object.entries(responses).some(([status, response]) => {
    if (!status.startsWith('2')) return false;
    const content = (response as { content?: Record<string, { schema?: unknown }> }).content?.['application/json'];
    return field(field(content?.schema, 'data'), 'revision') !== undefined;
  });
};
