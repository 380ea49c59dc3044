import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { SubscriptionTable } from './subscription-table.js';

const created = (id: string, emitterId: string, listenerId: string, eventName = '', workspaceId = 'o_1') =>
  recorded(
    `subscription-${id}`,
    {
      type: 'SubscriptionCreated',
      data: { subscriptionId: id, userId: 'u_1', emitterId, listenerId, eventName, createdAt: 1 },
    },
    { metadata: { workspaceId } },
  );
const said = (stream: string, type: string, data: object = {}) => recorded(stream, { type, data });

const tableOf = (...events: ReturnType<typeof recorded>[]): SubscriptionTable => {
  const table = new SubscriptionTable();
  for (const event of events) table.apply(event);
  return table;
};
const listeners = (table: SubscriptionTable, emitter: string, channel = '', workspace = 'o_1'): string[] =>
  table.match(emitter, workspace, channel).map(({ listenerId }) => listenerId);

describe('SubscriptionTable', () => {
  // docs/reference/rest-api.md#subscription-channel-match
  it.each<[name: string, emitterId: string, eventName: string, emitter: string, channel: string, matches: boolean]>([
    ['default channel by id', 'dc_a', '', 'dc_a', '', true],
    ['another emitter', 'dc_a', '', 'dc_b', '', false],
    ['a default-channel subscription never gets a named channel', 'dc_a', '', 'dc_a', 'orders', false],
    ['nor $errors', 'dc_a', '', 'dc_a', '$errors', false],
    ['nor $logs', 'dc_a', '', 'dc_a', '$logs', false],
    ['a named channel, exactly', 'dc_a', 'orders', 'dc_a', 'orders', true],
    ['a channel is not a prefix', 'dc_a', 'orders', 'dc_a', 'orders2', false],
    ['a channel is case-sensitive', 'dc_a', 'orders', 'dc_a', 'Orders', false],
    ['all sources', 'dc_*', '', 'dc_whatever', '', true],
    ['all sources, a channel', 'dc_*', '$logs', 'dc_whatever', '$logs', true],
    ['all sources are no workflows', 'dc_*', '', 'p_1', '', false],
    ['all workflows', 'p_*', '', 'p_1', '', true],
    ["a workspace's errors, without event name", 'o_1', '', 'dc_a', '$errors', true],
    ["a workspace's errors, with event name", 'o_1', '$errors', 'p_1', '$errors', true],
    ['a workspace stands for errors only', 'o_1', '', 'dc_a', '', false],
    ["a user's errors", 'u_1', '', 'dc_a', '$errors', true],
    ["a user's errors of a workflow", 'u_1', '', 'p_1', '$errors', true],
    ["not the errors of another user's source", 'u_1', '', 'dc_of_other', '$errors', false],
  ])('%s', (_name, emitterId, eventName, emitter, channel, matches) => {
    const table = tableOf(
      said('source-dc_a', 'SourceDeploymentStarted', { userId: 'u_1' }),
      said('workflow-p_1', 'WorkflowCreated', { userId: 'u_1' }),
      said('source-dc_of_other', 'SourceDeploymentStarted', { userId: 'u_2' }),
      created('sub_1', emitterId, 'wh_1', eventName),
    );
    expect(listeners(table, emitter, channel)).toEqual(matches ? ['wh_1'] : []);
  });

  it('keeps globs and owners inside their workspace', () => {
    const table = tableOf(
      said('source-dc_a', 'SourceDeploymentStarted', { userId: 'u_1' }),
      created('sub_1', 'dc_*', 'wh_1'),
      created('sub_2', 'u_1', 'wh_1'),
      created('sub_3', 'o_1', 'wh_1'),
    );
    expect(listeners(table, 'dc_a', '', 'o_2')).toEqual([]);
    expect(listeners(table, 'dc_a', '$errors', 'o_2')).toEqual([]);
    expect(listeners(table, 'dc_a', '$errors')).toEqual(['wh_1', 'wh_1']);
  });

  it('finds every matching subscription, by id and by glob', () => {
    const table = tableOf(
      created('sub_1', 'dc_a', 'dc_a'),
      created('sub_2', 'dc_a', 'wh_1'),
      created('sub_3', 'dc_*', 'p_1'),
    );
    expect(listeners(table, 'dc_a')).toEqual(['dc_a', 'wh_1', 'p_1']);
  });

  it.each<[name: string, back: readonly [emitterId: string, listenerId: string], closes: boolean]>([
    ['by id', ['p_1', 'dc_a'], true],
    ['by the glob of workflows', ['p_*', 'dc_a'], true],
    ['by the errors of the workspace', ['o_1', 'dc_a'], true],
    ['but not by the glob of sources', ['dc_*', 'dc_a'], false],
    ['but not through a webhook', ['p_1', 'wh_1'], false],
  ])('knows a loop through a workflow, %s', (_name, [emitterId, listenerId], closes) => {
    const table = tableOf(created('sub_1', 'dc_a', 'p_1'), created('sub_2', emitterId, listenerId));
    expect(table.leadsTo('p_1', 'dc_a', 'o_1')).toBe(closes);
  });

  it('ignores a repeated event, and lists a deleted and recreated subscription once', () => {
    const again = created('sub_1', 'dc_a', 'wh_1');
    const table = tableOf(again, again, said('subscription-sub_1', 'SubscriptionDeleted'), again);
    expect(listeners(table, 'dc_a')).toEqual(['wh_1']);
    expect(table.size).toBe(1);
    table.apply(said('subscription-sub_1', 'SubscriptionDeleted'));
    table.apply(said('subscription-sub_1', 'SubscriptionDeleted'));
    expect(table.size).toBe(0);
  });

  it.each(['SourceDeleted', 'SourceDeploymentFailed'])(
    'removes subscriptions from and to a source after %s',
    (type) => {
      const table = tableOf(
        created('sub_1', 'dc_a', 'wh_1'),
        created('sub_2', 'dc_b', 'dc_a'),
        created('sub_3', 'dc_a', 'dc_a'),
        created('sub_4', 'dc_b', 'wh_1'),
        said('source-dc_a', type),
      );
      expect(table.size).toBe(1);
      expect(listeners(table, 'dc_a')).toEqual([]);
      expect(listeners(table, 'dc_b')).toEqual(['wh_1']);
    },
  );

  it('removes subscriptions from and to a deleted workflow', () => {
    const table = tableOf(
      said('workflow-p_1', 'WorkflowCreated', { userId: 'u_1' }),
      created('sub_1', 'dc_a', 'p_1'),
      created('sub_2', 'p_1', 'wh_1'),
      created('sub_3', 'u_1', 'wh_1'),
      said('workflow-p_1', 'WorkflowDeleted'),
    );
    expect(table.size).toBe(1);
    expect(listeners(table, 'p_1', '$errors')).toEqual([]);
  });

  it('removes subscriptions to a deleted webhook', () => {
    const table = tableOf(created('sub_1', 'dc_a', 'wh_1'), said('webhook-wh_1', 'WebhookDeleted'));
    expect(table.size).toBe(0);
  });

  it('visits matches only, not all subscriptions', () => {
    const table = new SubscriptionTable();
    for (let i = 0; i < 100_000; i++) table.apply(created(`sub_${i}`, `dc_${i % 50_000}`, `wh_${i}`));
    expect(table.size).toBe(100_000);
    expect(listeners(table, 'dc_7')).toEqual(['wh_7', 'wh_50007']);
    for (let i = 0; i < 100_000; i++) table.apply(said(`webhook-wh_${i}`, 'WebhookDeleted'));
    expect(table.size).toBe(0);
  });
});
