import { describe, expect, it } from '@jest/globals';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { subscriptionsWorlds } from '../testing/subscriptions-world.js';

const world = subscriptionsWorlds();

// docs/reference/workflows.md#trigger-event
describe('the triggers of a workflow', () => {
  const trigger = (name: string, emitterId: string, filter: object | null = null, kind = 'event') => ({
    kind,
    subscriptionId: `sub_${name}`,
    name,
    emitterId,
    eventName: '',
    filter,
  });
  const deploying = async (...versions: readonly (readonly object[])[]) => {
    const made = await world();
    for (const triggers of versions)
      await made.plane.happened('workflow-p_1', { type: 'WorkflowDeployed', data: { userId: 'u_1', triggers } });
    await made.plane.idle();
    expect(made.plane.failures).toEqual([]);
    const subscriptions = itemsOf(await made.call('get', '/v1/users/me/subscriptions'));
    return {
      ...made,
      subscriptions,
      historyOf: (name: string) => typesOf(made.plane.eventsOf(`subscription-sub_${name}`)),
    };
  };
  const typesOf = async (events: Promise<readonly { type: string }[]>) => (await events).map(({ type }) => type);

  it('are subscriptions that follow its versions', async () => {
    const { subscriptions, historyOf } = await deploying(
      [
        { kind: 'manual', name: 'manual' },
        trigger('a', 'dc_a'),
        trigger('b', 'dc_a'),
        trigger('c', 'dc_a', null, 'source'),
      ],
      [trigger('a', 'dc_b'), trigger('b', 'dc_a', { n: 1 }), trigger('d', 'dc_*')],
    );
    const owned: unknown = Object.fromEntries(
      subscriptions.map(({ id, emitter_id, filter }) => [id, [emitter_id, filter]]),
    );
    expect(owned).toEqual({ sub_a: ['dc_b', undefined], sub_b: ['dc_a', { n: 1 }], sub_d: ['dc_*', undefined] });
    expect(new Set(subscriptions.map(({ listener_id }) => listener_id))).toEqual(new Set(['p_1']));
    expect(await historyOf('a')).toEqual(['SubscriptionCreated', 'SubscriptionDeleted', 'SubscriptionCreated']);
    expect(await historyOf('b')).toEqual(['SubscriptionCreated', 'SubscriptionFilterChanged']);
    expect(await historyOf('c')).toEqual(['SubscriptionCreated', 'SubscriptionDeleted']);
  });

  it('stay as they are with another version, and end with the workflow', async () => {
    const { plane, historyOf } = await deploying([trigger('a', 'dc_a')], [trigger('a', 'dc_a')]);
    expect(await historyOf('a')).toEqual(['SubscriptionCreated']);
    await plane.happened('workflow-p_1', { type: 'WorkflowDeleted', data: {} });
    await plane.idle();
    expect(await historyOf('a')).toEqual(['SubscriptionCreated', 'SubscriptionDeleted']);
  });

  it('change with the workflow only', async () => {
    const { call } = await deploying([trigger('a', 'dc_a')]);
    for (const method of ['post', 'delete'] as const) {
      const refused = errorOf(await call(method, '/v1/subscriptions?emitter_id=dc_a&listener_id=p_1'));
      const details = { id: 'sub_a', workflow_id: 'p_1', trigger: 'a' };
      expect(refused).toMatchObject({ status: 409, code: 'owned_by_workflow', details });
    }
    const other = '/v1/subscriptions?emitter_id=dc_a&listener_id=p_1&event_name=x';
    expect((await call('post', other)).status).toBe(200);
    expect((await call('delete', other)).status).toBe(204);
  });
});
