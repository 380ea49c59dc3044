import request from 'supertest';
import { ComponentsModule, componentsContext, type ComponentUsers } from '#libs/components/index.js';
import { codeOf, FakeCalls, FakeInspector, InMemoryBlobs } from '#libs/components/testing/fakes.js';
import { dataStoresContext, DataStoresModule } from '#libs/data-stores/index.js';
import { InMemoryRecords } from '#libs/data-stores/in-memory-records.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { dataOf, type Json, type JsonObject } from '#libs/http/testing/replies.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { type Caller } from '#libs/http/callers.js';
import {
  pathEndpointUrls,
  SourcesModule,
  sourcesContext,
  SourcesView,
  type AppEvents,
  type ManualRuns,
} from '../index.js';
import { type SourceCounts } from '../ports.js';
import { FakeHooks, FakeTopics } from './fakes.js';

const NO_COUNTS: SourceCounts = { lastEventAt: null, lastErrorAt: null, events: 0, errors: 0 };

const caller = (userId: string, ...workspaceIds: string[]): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds,
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
});

const noting = (runs: Parameters<ManualRuns['run']>[]): ManualRuns => ({
  run: async (...given) => {
    runs.push(given);
    const observations = [{ k: 'console.log', ts: 1, msg: 'ran' }];
    return { invocationId: 'inv_1', ...(given[3] ? { observations } : {}) };
  },
});

const appEventsOf = (view: SourcesView): AppEvents => ({
  send: async ({ workspaceId, app: slug, eventName, accountId }) => {
    const found = view.appHooks.matching(workspaceId, slug, eventName, accountId);
    return { invocations: found.map(({ sourceId }) => ({ id: `inv_${sourceId}`, sourceId })), refused: [] };
  },
});

const usersIn = (view: SourcesView): ComponentUsers => ({
  of: async (componentId) => {
    const using = [...view.all()].filter(([, { definition }]) => definition.componentId === componentId);
    return { sources: using.map(([id, { name }]) => ({ id, name })), workflows: [] };
  },
});

/** The sources and components contexts over HTTP, in memory. Call `close` after the test. */
export const sourcesWorld = async () => {
  const view = new SourcesView();
  const plane = await ControlPlane.start({
    projections: [...sourcesContext.projections, ...componentsContext.projections, ...dataStoresContext.projections],
    views: [view],
  });
  const hooks = new FakeHooks();
  const calls = new FakeCalls();
  const blobs = new InMemoryBlobs();
  const inspector = new FakeInspector();
  const topics = new FakeTopics();
  const counts = new Map<string, SourceCounts>();
  const runs: Parameters<ManualRuns['run']>[] = [];
  const app = await httpTestApp({
    imports: [
      ComponentsModule.forRoot({
        ...plane.ports(),
        blobs,
        inspector,
        calls,
        fetcher: { fetch: () => Promise.reject(new Error('nothing is fetched')) },
        componentUsers: usersIn(view),
      }),
      DataStoresModule.forRoot({ ...plane.ports(), records: new InMemoryRecords() }),
      SourcesModule.forRoot({
        ...plane.ports(),
        hookRunner: hooks,
        sourceTopics: topics,
        manualRuns: noting(runs),
        ownerChanges: { isMade: () => Promise.resolve(false) },
        sourceDbs: { of: () => Promise.resolve({}) },
        appEvents: appEventsOf(view),
        sourceStates: view,
        sourceCounts: async (ids) => ids.map((id) => counts.get(id) ?? NO_COUNTS),
        timerSchedules: { next: (_timer, _since, after) => after + 1_000 },
        endpointUrls: pathEndpointUrls(() => 'http://127.0.0.1:3000/'),
      }),
    ],
    http: plane.ports(),
    callers: { one: caller('u_1', 'o_1'), both: caller('u_2', 'o_1', 'o_2'), other: caller('u_3', 'o_2') },
  });
  const close = async (): Promise<void> => {
    await app.close();
    await plane.stop();
  };
  const call = (method: 'get' | 'post' | 'put' | 'delete', path: string, key = 'one') =>
    request(app.getHttpServer())[method](path).set('Authorization', `Bearer ${key}`);
  const create = async (body: object, key = 'one'): Promise<JsonObject> =>
    dataOf(await call('post', '/v1/sources', key).send(body));
  const now = (): number => plane.clock.time;
  return { plane, view, counts, now, hooks, topics, blobs, inspector, calls, runs, call, create, close };
};

export const textOf = (value: Json | undefined): string => {
  if (typeof value !== 'string') throw new Error(`no text but ${JSON.stringify(value)}`);
  return value;
};

/** Code with every hook and most kinds of props; `repo` is required. */
export const HOOKED = codeOf({
  name: 'Git Hub!',
  key: 'git-hub',
  hooks: ['deploy', 'activate', 'deactivate'],
  configurableProps: [
    { name: 'http', type: '$.interface.http', customResponse: true },
    { name: 'timer', type: '$.interface.timer', default: { intervalSeconds: 900 } },
    { name: 'db', type: '$.service.db' },
    { name: 'repo', type: 'string' },
    { name: 'token', type: 'string', secret: true, optional: true },
    { name: 'limit', type: 'integer', default: 30, max: 100 },
  ],
});
