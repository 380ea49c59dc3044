import { afterEach, describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { ingressWorld } from './testing/ingress-world.js';
import { type EndpointTrigger } from './workflow-trigger.js';

const worlds: Awaited<ReturnType<typeof ingressWorld>>[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ close }) => close()));
});

const setUp = async (trigger: Partial<EndpointTrigger> = {}, customResponse = false) => {
  const all = { id: 'hi_1', name: 'http', staticResponse: null, replyTimeoutMs: 50, ...trigger };
  const target = { sourceId: 'p_1', workspaceId: 'o_1', prop: 'http', customResponse, trigger: all };
  const world = await ingressWorld({ endpoint: (key) => (key === 'eflow' ? target : undefined) });
  worlds.push(world);
  return world;
};

describe('the HTTP trigger of a workflow', () => {
  it('answers once the event is durable, with the id of its run', async () => {
    const { call, published } = await setUp();
    const answer = await call('POST', '/h/eflow', { body: '{"n":1}' });
    expect(answer).toMatchObject({ status: 200, body: '<p>Success</p>' });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-sluice-run-id': runIdOf(published[0]?.headers['id'] ?? ''),
    });
    expect(published).toMatchObject([
      {
        topic: 'invocations.p_1',
        headers: { kind: 'http', source: 'p_1', respond: '', trigger: '{"type":"http","id":"hi_1","name":"http"}' },
      },
    ]);
  });

  it('answers with its static response', async () => {
    const { call } = await setUp({ staticResponse: { status: 202, headers: { 'x-a': 'b' }, body: 'ok' } });
    const answer = await call('POST', '/h/eflow');
    expect(answer).toMatchObject({ status: 202, body: 'ok', headers: { 'x-a': 'b' } });
  });

  it('answers with what its run responds, and with 504 when that takes too long', async () => {
    const { call, relay, published, deps } = await setUp({ replyTimeoutMs: 60_000 }, true);
    const { publish } = deps.log;
    deps.log.publish = async (records) => {
      setImmediate(() =>
        relay.replied(records[0]?.headers['id'] ?? '', { status: 201, headers: {}, body: 'made', base64: false }),
      );
      return publish(records);
    };
    expect(await call('POST', '/h/eflow')).toMatchObject({ status: 201, body: 'made' });
    expect(published[0]?.headers['respond']).toBe('here');

    const slow = await setUp({}, true);
    const late = await slow.call('POST', '/h/eflow');
    expect(late.status).toBe(504);
    expect(late.headers['x-sluice-run-id']).toBe(runIdOf(slow.published[0]?.headers['id'] ?? ''));
  });

  it('admits only its bearer token, which the event does not hold, and stores nothing of others', async () => {
    const { call, published } = await setUp({ admits: (token) => token === 'secret-token' });
    for (const authorization of [undefined, 'Bearer wrong', 'secret-token', `Bearer ${'x'.repeat(2_000)}`]) {
      const answer = await call('POST', '/h/eflow', authorization === undefined ? {} : { headers: { authorization } });
      expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'unauthorized' });
    }
    expect(published).toEqual([]);
    expect((await call('POST', '/h/eflow', { headers: { authorization: 'Bearer secret-token' } })).status).toBe(200);
    expect(published[0]?.headers['verified']).toBe('1');
    expect(published[0]?.value).not.toContain('secret-token');
  });

  it('leaves OPTIONS to the server, without a token and without a run', async () => {
    const { call, published } = await setUp({ admits: () => false });
    expect((await call('OPTIONS', '/h/eflow')).status).toBe(204);
    expect(published).toEqual([]);
  });

  it('lets a caller ask that nothing runs', async () => {
    const { call, published } = await setUp({}, true);
    expect((await call('POST', '/h/eflow', { headers: { 'x-pd-notrigger': '1' } })).status).toBe(200);
    expect(published[0]?.headers).toMatchObject({ kind: 'http', test: '1', notrigger: '1', respond: '' });
  });
});
