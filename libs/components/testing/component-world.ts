import request from 'supertest';
import { type Caller } from '#libs/http/callers.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { dataOf } from '#libs/http/testing/replies.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { ComponentsModule, componentsContext, type ComponentFetcher } from '../index.js';
import { type ComponentUser } from '../ports.js';
import { COMPONENT_CATALOG, type ComponentCatalog } from '../published.js';
import { FakeCalls, FakeInspector, InMemoryBlobs } from './fakes.js';
import { COMPONENT_LIMITS } from '../limits.js';

const caller = (userId: string, ...workspaceIds: string[]): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds,
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
});

/** Ends with `closeComponentWorlds`. */
const closing: (() => Promise<void>)[] = [];

/** Call it after each test. */
export const closeComponentWorlds = async (): Promise<void> => {
  for (const close of closing.splice(0)) await close();
};

/** The routes of components over HTTP, with four callers: of one workspace, of both, of the other, and added to the other. */
export const componentWorld = async (fetcher?: ComponentFetcher, codeBytesPerWorkspace = 1e9) => {
  const plane = await ControlPlane.start({ projections: componentsContext.projections });
  const inspector = new FakeInspector();
  const blobs = new InMemoryBlobs();
  /** By component. */
  const users = new Map<string, readonly ComponentUser[]>();
  const noFetcher: ComponentFetcher = { fetch: (url) => Promise.reject(new Error(`unexpected fetch of ${url}`)) };
  const app = await httpTestApp({
    imports: [
      ComponentsModule.forRoot({
        ...plane.ports(),
        blobs,
        inspector,
        calls: new FakeCalls(),
        componentUsers: { of: async (id) => ({ sources: users.get(id) ?? [], workflows: [] }) },
        fetcher: fetcher ?? noFetcher,
        codeLimits: { fileBytes: 1_000, files: 2, totalBytes: 2_000, depth: 3 },
        resourceLimits: { ...COMPONENT_LIMITS, codeBytesPerWorkspace },
      }),
    ],
    http: plane.ports(),
    callers: {
      one: caller('u_1', 'o_1'),
      both: caller('u_2', 'o_1', 'o_2'),
      other: caller('u_3', 'o_2'),
      added: { ...caller('u_1', 'o_1', 'o_2'), home: 'o_1' },
    },
  });
  closing.push(
    () => app.close(),
    () => plane.stop(),
  );
  const call = (method: 'get' | 'post' | 'delete', path: string, key = 'one') =>
    request(app.getHttpServer())[method](path).set('Authorization', `Bearer ${key}`);
  const save = async (code: string, key = 'one') =>
    dataOf(
      await call('post', '/v1/components', key).send({ component_code: code, org_id: key === 'other' ? 'o_2' : 'o_1' }),
    );
  const catalog = app.get<ComponentCatalog>(COMPONENT_CATALOG);
  return { plane, inspector, blobs, users, app, call, save, catalog };
};
