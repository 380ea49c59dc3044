import { describe, expect, it } from '@jest/globals';
import { dataOf, errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { subscriptionsContext } from './index.js';
import { subscriptionsWorlds } from './testing/subscriptions-world.js';

const world = subscriptionsWorlds();

describe('POST /v1/subscriptions', () => {
  it.each([
    ['$error', '$errors'],
    ['errors', '$errors'],
    ['$log', '$logs'],
    ['$platfrom', '$platform'],
  ])('warns of the channel %s, which is nearly one of the server', async (name, meant) => {
    const { call } = await world();
    const to = `emitter_id=dc_a&listener_id=dc_b&event_name=${encodeURIComponent(name)}`;
    expect((await call('post', `/v1/subscriptions?${to}`)).body).toMatchObject({
      warnings: [
        {
          code: 'misspelt_channel',
          path: 'event_name',
          message: expect.stringContaining(`"${meant}" is probably meant`),
        },
      ],
    });
    for (const fine of ['$errors', 'orders', 'log', 'platform.events', ''])
      expect(
        (await call('post', `/v1/subscriptions?emitter_id=dc_a&listener_id=dc_b&event_name=${fine}`)).body,
      ).not.toHaveProperty('warnings');
  });

  // docs/reference/rest-api.md#subscription-filter
  it('says when it gave an existing subscription another filter', async () => {
    const { call } = await world();
    const subscribe = async (filter?: object | null) =>
      dataOf(
        await call('post', '/v1/subscriptions?emitter_id=dc_a&listener_id=dc_b').send(
          filter === undefined ? {} : { filter },
        ),
      );
    expect(await subscribe({ type: 'a' })).not.toHaveProperty('changed');
    expect(await subscribe({ type: 'a' })).not.toHaveProperty('changed');
    expect(await subscribe()).not.toHaveProperty('changed');
    expect(await subscribe({ type: 'b' })).toMatchObject({ changed: true, filter: { type: 'b' } });
    expect(await subscribe(null)).toMatchObject({ changed: true });
  });

  it('reads its parameters from the query, with a JSON content type and no body', async () => {
    const { call } = await world();
    const reply = await call('post', '/v1/subscriptions?emitter_id=dc_a&listener_id=wh_1').type('application/json');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      data: {
        id: expect.stringMatching(/^sub_[0-9a-z]{18}$/),
        emitter_id: 'dc_a',
        listener_id: 'wh_1',
        event_name: '',
        revision: 0,
      },
    });
  });

  it('reads them from the body too, and the query wins', async () => {
    const { call } = await world();
    const reply = await call('post', '/v1/subscriptions?listener_id=wh_2').send({
      emitter_id: 'dc_a',
      listener_id: 'wh_1',
      event_name: '$errors',
    });
    expect(dataOf(reply)).toMatchObject({ emitter_id: 'dc_a', listener_id: 'wh_2', event_name: '$errors' });
  });

  it('is idempotent, so the same triple is the same record and writes no second event', async () => {
    const { call, plane } = await world();
    const path = '/v1/subscriptions?emitter_id=dc_a&listener_id=wh_1';
    const [first, second] = await Promise.all([call('post', path), call('post', `${path}&event_name=`)]);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(dataOf(second)).toEqual(dataOf(first));
    expect(await plane.eventsOf(`subscription-${JSON.stringify(dataOf(first)['id']).slice(1, -1)}`)).toHaveLength(1);
  });

  it.each([
    ['a source that listens to itself', 'dc_a', 'dc_a', ''],
    ['all sources', 'dc_*', 'wh_1', ''],
    ['all workflows', 'p_*', 'wh_1', ''],
    ['a workflow', 'p_1', 'p_1', ''],
    ['the workspace', 'o_1', 'wh_1', '$errors'],
    ['the user', 'u_1', 'wh_1', ''],
  ])('accepts %s', async (_, emitter_id, listener_id, event_name) => {
    const { call } = await world();
    const reply = await call('post', '/v1/subscriptions').query({ emitter_id, listener_id, event_name });
    expect(reply.status).toBe(200);
    expect(dataOf(reply)).toMatchObject({ emitter_id, listener_id, event_name });
  });

  it.each([
    ['no emitter', { listener_id: 'wh_1' }, 400, 'missing_parameter', 'emitter_id'],
    ['no listener', { emitter_id: 'dc_a' }, 400, 'missing_parameter', 'listener_id'],
    ['two emitters', { emitter_id: ['dc_a', 'dc_b'], listener_id: 'wh_1' }, 400, 'invalid_parameter', 'emitter_id'],
    ['a malformed emitter', { emitter_id: 'dc_a*', listener_id: 'wh_1' }, 400, 'invalid_emitter', 'emitter_id'],
    ['a malformed listener', { emitter_id: 'dc_a', listener_id: 'dc_*' }, 400, 'invalid_listener', 'listener_id'],
    [
      'a channel of a workspace',
      { emitter_id: 'o_1', listener_id: 'wh_1', event_name: 'x' },
      400,
      'invalid_event_name',
      'event_name',
    ],
    ['an unknown emitter', { emitter_id: 'dc_x', listener_id: 'wh_1' }, 404, 'emitter_not_found', 'emitter_id'],
    [
      "another workspace's emitter",
      { emitter_id: 'dc_other', listener_id: 'wh_1' },
      404,
      'emitter_not_found',
      'emitter_id',
    ],
    ['another workspace', { emitter_id: 'o_2', listener_id: 'wh_1' }, 404, 'emitter_not_found', 'emitter_id'],
    ['another user', { emitter_id: 'u_2', listener_id: 'wh_1' }, 404, 'emitter_not_found', 'emitter_id'],
    ['an unknown listener', { emitter_id: 'dc_a', listener_id: 'wh_x' }, 404, 'listener_not_found', 'listener_id'],
    [
      "another workspace's listener",
      { emitter_id: 'dc_a', listener_id: 'dc_other' },
      404,
      'listener_not_found',
      'listener_id',
    ],
  ])('refuses %s', async (_, query, status, code, field) => {
    const { call, plane } = await world();
    const error = errorOf(await call('post', '/v1/subscriptions').query(query));
    expect(error).toMatchObject({ status, code, details: { field } });
    expect(error.error).toContain(field);
    expect(await plane.events.lastPosition()).toMatch(/^0+$/);
  });

  it('requires a member of several workspaces to name one', async () => {
    const { call } = await world();
    const path = '/v1/subscriptions?emitter_id=dc_a&listener_id=wh_1';
    expect(errorOf(await call('post', path, 'both'))).toMatchObject({
      status: 400,
      error: 'please specify a valid workspace',
    });
    expect((await call('post', `${path}&org_id=o_1`, 'both')).status).toBe(200);
    expect(errorOf(await call('post', `${path}&workspace_id=o_2`, 'both')).status).toBe(404);
    expect(errorOf(await call('post', `${path}&org_id=o_2`))).toMatchObject({ status: 403, code: 'not_a_member' });
  });
});

describe('DELETE /v1/subscriptions', () => {
  it('deletes the exact triple once, with a missing event name read as the empty one', async () => {
    const { call } = await world();
    const path = '/v1/subscriptions?emitter_id=dc_*&listener_id=wh_1';
    await call('post', `${path}&event_name=$errors`);
    expect(errorOf(await call('delete', path))).toMatchObject({ status: 404, code: 'subscription_not_found' });
    await call('post', path);
    const reply = await call('delete', `${path}&event_name=`).type('application/json');
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect((await call('delete', path)).status).toBe(404);
    expect(itemsOf(await call('get', '/v1/users/me/subscriptions'))).toEqual([
      expect.objectContaining({ event_name: '$errors' }),
    ]);
    expect((await call('post', path)).status).toBe(200);
  });

  it("finds the triple in the caller's workspaces only", async () => {
    const { call } = await world();
    const path = '/v1/subscriptions?emitter_id=dc_a&listener_id=wh_1';
    await call('post', path);
    expect((await call('delete', path, 'stranger')).status).toBe(404);
    expect((await call('delete', `${path}&org_id=o_2`, 'both')).status).toBe(404);
    expect((await call('delete', path, 'both')).status).toBe(204);
  });

  it('names the field of a malformed triple', async () => {
    const { call } = await world();
    expect(errorOf(await call('delete', '/v1/subscriptions?emitter_id=dc_a'))).toMatchObject({
      status: 400,
      details: { field: 'listener_id' },
    });
  });
});

describe('the lists', () => {
  // docs/reference/rest-api.md#subscription-lists
  it('are plain arrays, newest first, of the user and of the workspace', async () => {
    const { call } = await world();
    for (const listener of ['wh_1', 'wh_2', 'dc_b']) {
      await call('post', `/v1/subscriptions?emitter_id=dc_a&listener_id=${listener}`);
    }
    await call('post', '/v1/subscriptions?emitter_id=dc_a&listener_id=p_1&org_id=o_1', 'both');
    const mine = await call('get', '/v1/users/me/subscriptions');
    expect(Object.keys(mine.body as object)).toEqual(['data']);
    expect(itemsOf(mine).map((item) => item['listener_id'])).toEqual(['dc_b', 'wh_2', 'wh_1']);
    const all = await call('get', '/v1/workspaces/o_1/subscriptions');
    expect(Object.keys(all.body as object)).toEqual(['data']);
    expect(itemsOf(all).map((item) => item['listener_id'])).toEqual(['p_1', 'dc_b', 'wh_2', 'wh_1']);
    expect(Object.keys(itemsOf(all)[0] ?? {})).toEqual(['id', 'emitter_id', 'listener_id', 'event_name', 'revision']);
  });

  it('hold more than one page of the store', async () => {
    const { plane, call } = await world();
    for (let i = 0; i < 1_003; i++) {
      const doc = {
        id: `sub_${i}`,
        workspaceId: 'o_1',
        userId: 'u_1',
        emitterId: 'dc_a',
        listenerId: 'wh_1',
        eventName: '',
        createdAt: String(i).padStart(15, '0'),
      };
      await plane.readModels.put(subscriptionsContext.projections[0].schema, doc);
    }
    expect(itemsOf(await call('get', '/v1/users/me/subscriptions'))).toHaveLength(1_003);
  });

  it('refuse a workspace that is unknown (404) or not the caller’s (403)', async () => {
    const { call } = await world();
    expect((await call('get', '/v1/workspaces/o_9/subscriptions')).status).toBe(404);
    expect((await call('get', '/v1/workspaces/o_2/subscriptions')).status).toBe(403);
  });
});

describe('subscriptions of deleted resources', () => {
  // docs/reference/rest-api.md#subscription-cleanup
  it.each([
    ['source-dc_a', 'SourceDeleted', ['dc_b', 'p_1', 'wh_1']],
    ['source-dc_a', 'SourceDeploymentFailed', ['dc_b', 'p_1', 'wh_1']],
    ['webhook-wh_1', 'WebhookDeleted', ['dc_b', 'p_1', 'dc_a']],
    ['workflow-p_1', 'WorkflowDeleted', ['wh_1', 'dc_a', 'wh_1']],
  ])('%s %s removes the subscriptions from and to it', async (stream, type, left) => {
    const { plane, call } = await world();
    await call('post', '/v1/subscriptions?emitter_id=dc_a&listener_id=wh_1');
    await call('post', '/v1/subscriptions?emitter_id=dc_b&listener_id=dc_a');
    await call('post', '/v1/subscriptions?emitter_id=dc_*&listener_id=wh_1');
    await call('post', '/v1/subscriptions?emitter_id=dc_b&listener_id=p_1');
    await call('post', '/v1/subscriptions?emitter_id=p_1&listener_id=dc_b');
    await plane.happened(stream, { type, data: {} });
    await plane.idle();
    const listeners = itemsOf(await call('get', '/v1/users/me/subscriptions')).map((item) => item['listener_id']);
    expect(listeners).toEqual(left);
    expect(plane.failures).toEqual([]);
  });

  it('removes a subscription recorded after the deletion of its resource', async () => {
    const { plane, call } = await world();
    // The check saw the webhook, but the deletion reached the log first.
    await plane.happened('webhook-wh_1', { type: 'WebhookDeleted', data: {} });
    const created = dataOf(await call('post', '/v1/subscriptions?emitter_id=dc_a&listener_id=wh_1'));
    await plane.idle();
    const events = await plane.eventsOf(`subscription-${JSON.stringify(created['id']).slice(1, -1)}`);
    expect(events.map(({ type }) => type)).toEqual(['SubscriptionCreated', 'SubscriptionDeleted']);
    expect(events[1]?.data).toMatchObject({ reason: 'listener_deleted' });
    expect(events[1]?.metadata).toMatchObject({
      $causationId: events[0]?.id,
      actor: { userId: 'u_1', apiKeyId: null },
    });
  });

  it('keeps subscriptions of live resources and globs', async () => {
    const { plane, call } = await world();
    await plane.happened('source-dc_a', { type: 'SourceDeployed', data: {} });
    await call('post', '/v1/subscriptions?emitter_id=dc_a&listener_id=wh_1');
    await call('post', '/v1/subscriptions?emitter_id=dc_*&listener_id=wh_1');
    await plane.idle();
    expect(itemsOf(await call('get', '/v1/users/me/subscriptions'))).toHaveLength(2);
  });
});

describe('auto-subscriptions', () => {
  // docs/reference/rest-api.md#auto-subscriptions
  it.each([
    ['source-dc_new', 'SourceDeploymentStarted'],
    ['workflow-p_new', 'WorkflowCreated'],
  ])('subscribe their listener to a new emitter: %s %s', async (stream, type) => {
    const { plane, call } = await world();
    expect((await call('post', '/v1/auto_subscriptions?event_name=$errors&listener_id=wh_1')).status).toBe(200);
    await plane.happened(stream, { type, data: {} });
    await plane.idle();
    expect(itemsOf(await call('get', '/v1/workspaces/o_1/subscriptions'))).toEqual([
      expect.objectContaining({ emitter_id: stream.split('-')[1], listener_id: 'wh_1', event_name: '$errors' }),
    ]);
  });
});

describe('POST /v1/subscriptions/{id}/replay', () => {
  // docs/reference/rest-api.md#replay-one
  it.each([
    ['wh_1', 'webhook_inactive'],
    ['dc_b', 'source_inactive'],
    ['p_1', 'workflow_inactive'],
  ])('is refused for the inactive listener %s', async (listener, code) => {
    const { call, resources } = await world();
    const made = await call('post', `/v1/subscriptions?emitter_id=dc_a&listener_id=${listener}`);
    const { id } = dataOf(made) as { readonly id: string };
    const path = `/v1/subscriptions/${id}/replay`;
    resources.set(listener, { workspaceId: 'o_1', active: false });
    expect(errorOf(await call('post', path))).toMatchObject({
      status: 409,
      code,
      error: expect.stringContaining('active=true'),
    });
    resources.set(listener, { workspaceId: 'o_1', active: true });
    expect((await call('post', path)).status).toBe(202);
  });
});
