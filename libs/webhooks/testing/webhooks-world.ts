import request from 'supertest';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { dataOf, type JsonObject } from '#libs/http/testing/replies.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { createOwnedTopics, deleteOwnedTopics } from '#libs/stream-log/owned-topics.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type Caller } from '#libs/http/callers.js';
import { type DeliveryRequests, type SentTest, type TestAttempts } from '../ports.js';
import { attemptsProjection, WebhookCleanUpReactor, webhooksContext, WebhooksModule } from '../index.js';

export const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });
const closing: (() => Promise<void>)[] = [];
/** Closes what `world` opened; for `afterEach`. */
export const closeWorlds = async (): Promise<void> => {
  for (const close of closing.splice(0)) await close();
};

const caller = (userId: string, ...workspaceIds: string[]): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds,
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
});

/** What came of each test. */
const TESTED = {
  ts: 1_700_000_000_000,
  ms: 5,
  status: 503,
  error: 'status 503',
  responseSnippet: 'away',
  responseHeaders: { via: 'test' },
};

const testedBy = (tests: SentTest[]): TestAttempts => ({
  send: async (test) => {
    tests.push(test);
    return TESTED;
  },
});
const WAITING = { of: async (ids: readonly string[]) => ids.map(() => 3) };
const REQUESTS: DeliveryRequests = {
  headersOf: ({ delivery, attempt: n }) => ({ 'webhook-id': delivery, 'x-pd-attempt': String(n) }),
};

/** The webhooks of a workspace over HTTP, with everything in memory. */
export const world = async () => {
  const reach = { refusalOf: (host: string) => (host === '10.0.0.1' ? 'a private address' : undefined) };
  const log = new InMemoryStreamLog();
  await log.createTopic(topics.attempts(), {});
  const webhookTopics = {
    create: (id: string): Promise<void> => createOwnedTopics(log, topics, id),
    remove: (id: string): Promise<void> => deleteOwnedTopics(log, topics, id),
  };
  const made: { attempts?: StreamProjector } = {};
  const plane = await ControlPlane.start({
    projections: webhooksContext.projections,
    reactors: ({ events, vault, readModels }) => {
      const projection = attemptsProjection;
      const attempts = new StreamProjector({ projection, log, readModels, gatherMs: 1, onFailure: () => undefined });
      made.attempts = attempts;
      return [new WebhookCleanUpReactor({ events, vault, topics: webhookTopics, attempts })];
    },
  });
  const { attempts } = made;
  if (!attempts) throw new Error('no reactors were asked for');
  await attempts.start();
  const tests: SentTest[] = [];
  const payloads = new Map<string, string>();
  const payloadOf = async (...parts: string[]): Promise<string | undefined> => payloads.get(parts.join('/'));
  const app = await httpTestApp({
    imports: [
      WebhooksModule.forRoot({
        ...plane.ports(),
        webhookTopics,
        retainedEvents: { payloadOf },
        waitingDeliveries: WAITING,
        log,
        topics,
        reach,
        testAttempts: testedBy(tests),
        deliveryRequests: REQUESTS,
      }),
    ],
    http: plane.ports(),
    callers: { one: caller('u_1', 'o_1'), other: caller('u_2', 'o_2'), colleague: caller('u_3', 'o_1') },
  });
  closing.push(
    () => app.close(),
    () => plane.stop(),
    () => attempts.stop(),
  );
  const call = (method: 'get' | 'post' | 'put' | 'delete', path: string, key = 'one') =>
    request(app.getHttpServer())[method](path).set('Authorization', `Bearer ${key}`);
  const create = async (query = 'url=https://example.com/hook'): Promise<JsonObject & { readonly id: string }> => {
    const data = dataOf(await call('post', `/v1/webhooks?${query}`));
    return { ...data, id: data['id'] as string };
  };
  const recorded = async (...records: LogRecord[]): Promise<void> => {
    const offsets = await log.publish(records);
    await attempts.waitApplied(topics.attempts(), offsets.at(-1) ?? 0, 5_000);
  };
  return { log, plane, payloads, tests, call, create, recorded };
};

/** The record of an attempt: the delivery `n` of a webhook. */
export const attempt = (
  webhook: string,
  n: number,
  over: { readonly attempt?: number; readonly status?: number } = {},
): LogRecord => {
  const { attempt: number = 1, status = 200 } = over;
  return {
    topic: topics.attempts(),
    key: webhook,
    headers: {
      id: `dlv_${n}/${number}`,
      delivery: `dlv_${n}`,
      webhook,
      workspace: 'o_1',
      emitter: 'dc_a',
      channel: '',
      emit: `emit-${n}`,
      event: `1700000000000-${n}`,
      attempt: String(number),
      outcome: status === 200 ? 'success' : 'retry',
    },
    value: JSON.stringify({
      ts: 1_700_000_000_000 + n * 1_000 + number,
      ms: 12.4,
      status,
      error: status === 200 ? null : `status ${status}`,
      nextAttemptAt: status === 200 ? null : 1_700_000_099_000,
      responseSnippet: 'ok',
      responseHeaders: { 'x-n': String(n) },
    }),
  };
};
