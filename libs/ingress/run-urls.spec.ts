import { afterEach, describe, expect, it } from '@jest/globals';
import { httpBytes } from '#libs/http/bytes-in-flight.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { type Admission, refusing } from './admission.js';
import { RateLimit } from './rate-limit.js';
import { RunUrls, type RunUrlsDependencies } from './run-urls.js';
import { served } from './testing/ingress-world.js';

const NAMED = { workflowId: 'p_1', runId: 'run_1', execution: 2 };
type Steered = Parameters<RunUrlsDependencies['steer']>[0];
type Asked = Awaited<ReturnType<RunUrlsDependencies['steer']>>;
type Result = 'ends' | 'kept' | 'over' | 'unknown' | 'cancels';

const answered = (result: Result): Asked => ({ answer: Promise.resolve({ result, version: 3 }) });

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((close) => close()))));

const world = async (asked: Asked = answered('ends'), over: Partial<RunUrlsDependencies> = {}) => {
  const steered: Steered[] = [];
  const left: string[] = [];
  const admission: Admission = { enter: () => true, left: ({ sourceId }) => left.push(sourceId) };
  const urls = new RunUrls({
    namedBy: (token) => (token === 'token' ? NAMED : undefined),
    workflow: (id) => (id === 'p_1' ? { workspaceId: 'o_1', name: `<b>"R&D"</b>` } : undefined),
    isOver: async () => false,
    shown: async () => undefined,
    steer: async (request) => {
      steered.push(request);
      return asked;
    },
    admission,
    rate: new RateLimit(0, 0),
    maxBodyBytes: 100,
    bytes: httpBytes(100, 100),
    proxies: new TrustedProxies(['127.0.0.1']),
    clock: { now: () => 1 },
    metrics: { accepted: () => undefined, refused: () => undefined },
    logger: { error: () => undefined },
    ...over,
  });
  const { call, close } = await served(urls);
  open.push(close);
  return { call, steered, left };
};

const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

// docs/reference/workflows.md#run-urls
describe('a URL of a run', () => {
  it('ends the wait of its execution with the request, in the shape of an event', async () => {
    const t = await world();
    const answer = await t.call('POST', '/r/token/resume?a=1', {
      body: '{"ok":1}',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer).toMatchObject({ status: 200, body: '{"success":true}', headers: PRIVATE });
    expect(t.steered).toMatchObject([{ ...NAMED, workspaceId: 'o_1', kind: 'resume' }]);
    expect(JSON.parse(t.steered[0]?.value ?? '')).toMatchObject({
      method: 'POST',
      path: '/',
      query: { a: '1' },
      body: { ok: 1 },
      bodyRaw: '{"ok":1}',
      client_ip: '127.0.0.1',
    });
    expect(t.left).toEqual(['p_1']);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('takes %s, and any body to cancel', async (method) => {
    const t = await world(answered('cancels'));
    const headers = { 'content-type': 'application/json', 'content-length': '100' };
    const body = method === 'GET' ? {} : { headers, body: '['.repeat(100) };
    expect((await t.call(method, '/r/token/cancel', body)).status).toBe(200);
    expect(t.steered).toMatchObject([{ kind: 'cancel', value: 'null' }]);
  });

  it.each([
    ['kept', 202, undefined],
    ['over', 410, 'no_longer_waiting'],
    ['unknown', 410, 'no_longer_waiting'],
  ] as const)('tells what the runner did: %s', async (result, status, code) => {
    const t = await world(answered(result));
    const answer = await t.call('POST', '/r/token/resume');
    expect(answer).toMatchObject({ status, headers: PRIVATE });
    expect((JSON.parse(answer.body) as { code?: string }).code).toBe(code);
  });

  it('is answered once HEAD and the page that confirms know that the wait is over', async () => {
    const known: unknown[] = [];
    let isKnown = false;
    const shown = async (...asked: readonly unknown[]): Promise<void> => {
      known.push(asked);
      await new Promise((resolve) => setTimeout(resolve, 50));
      isKnown = true;
    };
    const t = await world(answered('ends'), { shown, isOver: async () => isKnown });
    expect((await t.call('HEAD', '/r/token/resume')).status).toBe(200);
    expect((await t.call('POST', '/r/token/resume')).status).toBe(200);
    expect(known).toEqual([['run_1', 3]]);
    expect((await t.call('HEAD', '/r/token/resume')).status).toBe(410);
    expect((await t.call('GET', '/r/token/confirm')).status).toBe(410);
    await (await world(answered('kept'), { shown })).call('POST', '/r/token/resume');
    expect(known).toHaveLength(1);
    const unread = await world(answered('ends'), { shown: () => Promise.reject(new Error('no history')) });
    expect((await unread.call('POST', '/r/token/resume')).status).toBe(200);
  });

  it('answers 202 when the request is stored and its runner does not answer', async () => {
    const t = await world({ answer: Promise.resolve(undefined) });
    expect(await t.call('POST', '/r/token/resume')).toMatchObject({ status: 202, body: '{"success":true}' });
  });

  it('answers 503 when the request is not stored', async () => {
    const t = await world(undefined, { steer: () => Promise.reject(new Error('no log')) });
    const answer = await t.call('POST', '/r/token/resume');
    expect(answer).toMatchObject({ status: 503, headers: { ...PRIVATE, 'retry-after': '1' } });
    expect(answer.body).not.toContain('no log');
  });

  it('has no effect by HEAD and OPTIONS, and tells HEAD what is known', async () => {
    const t = await world();
    for (const action of ['resume', 'cancel', 'confirm']) {
      expect(await t.call('HEAD', `/r/token/${action}`)).toMatchObject({ status: 200, body: '', headers: PRIVATE });
      expect(await t.call('OPTIONS', `/r/token/${action}`)).toMatchObject({ status: 204, headers: PRIVATE });
    }
    expect(t.steered).toEqual([]);
    const over = await world(undefined, { isOver: async () => true });
    expect(await over.call('HEAD', '/r/token/resume')).toMatchObject({ status: 410, body: '' });
  });

  it.each([
    '/r/token',
    '/r/token/',
    '/r/token/other',
    '/r/token/resume/',
    '/r/token/resume/x',
    '/r/forged/resume',
    '/r//resume',
    '/r/toke%6E/resume',
  ])('is unknown when it is not complete, or not ours: %s', async (path) => {
    const t = await world();
    for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD']) {
      expect(await t.call(method, path)).toMatchObject({ status: 404, headers: PRIVATE });
    }
    expect(t.steered).toEqual([]);
  });

  it('is void once its workflow is deleted', async () => {
    const t = await world(answered('ends'), { workflow: () => undefined });
    expect((await t.call('POST', '/r/token/resume')).status).toBe(410);
    const during = await world(undefined, { steer: async () => undefined });
    expect((await during.call('POST', '/r/token/resume')).status).toBe(410);
  });

  it('has the limits of endpoints', async () => {
    const t = await world(undefined, { rate: new RateLimit(1, 1) });
    const large = await t.call('POST', '/r/token/resume', { body: 'x'.repeat(101) });
    expect([large.status, (await t.call('POST', '/r/token/resume')).status]).toEqual([413, 429]);
    const full = { status: 503, code: 'overloaded', text: 'full', retryAfterS: 1 } as const;
    const busy = await world(undefined, { admission: refusing(() => full) });
    expect((await busy.call('POST', '/r/token/resume')).status).toBe(503);
    expect([t.steered, busy.steered]).toEqual([[], []]);
  });

  it('leaves other paths to the API', async () => {
    const t = await world();
    for (const path of ['/v1/runs', '/runs/token/resume', '/r']) expect((await t.call('POST', path)).status).toBe(418);
  });
});

// docs/reference/workflows.md#run-urls
describe('the page that confirms', () => {
  it('does nothing but show the name of the workflow and two buttons, without script', async () => {
    const t = await world();
    const { status, headers, body } = await t.call('GET', '/r/token/confirm');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      ...PRIVATE,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    });
    expect(body).toContain('<h1>&lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt;</h1>');
    expect([...body.matchAll(/<form method="post" action="(\w+)">/g)].map(([, action]) => action)).toEqual([
      'resume',
      'cancel',
    ]);
    expect(body).not.toMatch(/<script|<b>|\bon\w+=/);
    expect(t.steered).toEqual([]);
  });

  it('is only shown, and not once the wait is over', async () => {
    const t = await world();
    const posted = await t.call('POST', '/r/token/confirm');
    expect(posted).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } });
    const over = await world(undefined, { isOver: async () => true });
    expect((await over.call('GET', '/r/token/confirm')).status).toBe(410);
    expect([t.steered, over.steered]).toEqual([[], []]);
  });
});
