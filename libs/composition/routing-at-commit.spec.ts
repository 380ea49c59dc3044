import { describe, expect, it } from '@jest/globals';
import { FRESH } from '#libs/kernel/testing/fresh-tables.js';
import { type RouterOptions } from '#libs/routing/router.js';
import { emitRecord as emit, routerWorlds, type Subscribed, topics } from '#libs/routing/testing/router-world.js';
import { type EmitRecord, SourceRouting } from '#libs/runner/source-routing.js';
import { emitterHeaders, MAX_HOPS } from '#libs/stream-log/envelopes.js';
import { type LogRecord, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { drained } from '#libs/stream-log/testing/drained.js';

const WEBHOOKS = Array.from({ length: 40 }, (_, n) => `wh_${n}`);
const OWNERS = ['dc_a', 'p_1', 'dc_b', ...WEBHOOKS];

const newWorld = routerWorlds();

type Way = 'by the router' | 'at the commit';

const world = async (way: Way, subscriptions: readonly Subscribed[], over: Partial<RouterOptions> = {}) => {
  const { log, subscribe, start } = newWorld();
  for (const subscription of subscriptions) subscribe(subscription);
  for (const id of OWNERS)
    for (const { topic, retention } of topics.ownedBy(id)) await log.createTopic(topic, retention);
  const router = await start(over);
  const routing = new SourceRouting('dc_a', way === 'at the commit' ? router.atCommit : undefined);
  /** Commits the emits as a runner does. */
  const commit = async (emits: readonly EmitRecord[]): Promise<void> => {
    const routes = await routing.begin();
    const records: LogRecord[] = [];
    for (const each of emits) records.push(...(routes?.route(each) ?? [each]));
    await log.publish(records);
    routes?.committed();
  };
  const recordsOf = (topic: string): Promise<readonly StoredRecord[]> => log.read(topic, -1, 10_000);
  /** The records of each listener, and the emits without their marks. */
  const result = async (): Promise<Readonly<Record<string, unknown>>> => {
    await drained(router);
    const all: Record<string, unknown> = {};
    for (const topic of await log.topics('')) {
      const records = await recordsOf(topic);
      all[topic] = records.map(({ key, value, headers }) => ({
        key,
        value,
        headers: { ...headers, routed: undefined },
      }));
    }
    return { ...all, metrics: { ...router.metrics } };
  };
  return { log, router, commit, recordsOf, result };
};

const marked = (records: readonly StoredRecord[]): readonly boolean[] =>
  records.flatMap((record) => {
    const headers = emitterHeaders(record);
    return headers.kind === 'emit' ? [headers.routed !== undefined] : [];
  });

const RELAY: readonly Subscribed[] = [{ listener: 'wh_1' }, { listener: 'dc_b' }];

const SCENARIOS: readonly (readonly [string, readonly Subscribed[], () => readonly EmitRecord[], boolean])[] = [
  ['a webhook and a source', RELAY, () => [emit(1), emit(2, { hops: '3' })], true],
  ['no listener', [], () => [emit(1)], true],
  ['other channels', [{ listener: 'wh_1', channel: 'x' }], () => [emit(1), emit(2, { channel: 'x' })], true],
  ['every source of a workspace', [{ emitter: 'dc_*', listener: 'wh_1' }], () => [emit(1)], true],
  ['errors of a workspace', [{ emitter: 'o_1', listener: 'wh_1' }], () => [emit(1, { channel: '$errors' })], true],
  ['a filter', [{ listener: 'wh_1', filter: { n: 2 } }], () => [emit(1), emit(2)], true],
  ['an event that triggers nothing', RELAY, () => [emit(1, { notrigger: '1' })], true],
  ['a workflow', [{ listener: 'p_1' }], () => [emit(1)], true],
  ['the last hop', RELAY, () => [emit(1, { hops: String(MAX_HOPS - 1) })], true],
  ['too many hops', RELAY, () => [emit(1, { hops: String(MAX_HOPS) })], false],
  ['an emit that cannot be routed', RELAY, () => [emit(1, { hops: String(MAX_HOPS), id: 'none' })], false],
  ['many listeners', WEBHOOKS.map((listener) => ({ listener })), () => [emit(1)], false],
  ['large events', RELAY, () => [1, 2, 3].map((n) => emit(n, {}, JSON.stringify('x'.repeat(300_000)))), false],
  ['a listener that is gone', [{ listener: 'wh_gone' }, ...RELAY], () => [emit(1), emit(2)], true],
];

describe('an emit reaches the same listeners at the commit of its run as by the router', () => {
  it.each(SCENARIOS)('%s', async (_, subscriptions, emits, atCommit) => {
    const by = await world('by the router', subscriptions);
    const at = await world('at the commit', subscriptions);
    for (const each of [by, at]) await each.commit(emits());
    const { metrics: expected, ...routed } = await by.result();
    const { metrics, ...committed } = await at.result();
    expect(committed).toEqual(routed);
    // A commit does not count what the log drops.
    expect({ ...(metrics as object), dropped: 0, deliveries: 0 }).toEqual({
      ...(expected as object),
      dropped: 0,
      deliveries: 0,
    });
    expect(marked(await by.recordsOf('emits.dc_a'))).not.toContain(true);
    const marks = marked((await at.recordsOf('emits.dc_a')).slice(0, 1));
    expect(marks).toEqual([atCommit || emits().length > 1]);
  });
});

describe('routing at the commit', () => {
  const idsAt = async (recordsOf: (topic: string) => Promise<readonly StoredRecord[]>, topic: string) =>
    (await recordsOf(topic)).map(({ headers }) => headers['emit']);

  it('leaves an emit to the router while the table may lack a subscription', async () => {
    const held: { at?: string } = {};
    const { commit, recordsOf, router } = await world('at the commit', RELAY, {
      tables: { ...FRESH, heldNow: () => held.at },
    });
    await commit([emit(1)]);
    await drained(router);
    held.at = '00000000000000000007';
    await commit([emit(2)]);
    expect(marked(await recordsOf('emits.dc_a'))).toEqual([false, true]);
    expect((await recordsOf('emits.dc_a'))[1]?.headers['routed']).toBe(held.at);
    await drained(router);
    expect(await idsAt(recordsOf, 'deliveries.wh_1')).toEqual(['emit-1', 'emit-2']);
  });

  it('gives a listener no emit before one that the router still has, also from before a start', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<boolean>((resolve) => (release = () => resolve(true)));
    const { log, commit, recordsOf, router } = await world('at the commit', RELAY, {
      tables: { ...FRESH, holdAnswered: () => released },
    });
    await log.publish([emit(1)]);
    await commit([emit(2)]);
    await commit([emit(3)]);
    release();
    await drained(router);
    await commit([emit(4)]);
    expect(marked(await recordsOf('emits.dc_a'))).toEqual([false, false, false, true]);
    for (const topic of ['deliveries.wh_1', 'invocations.dc_b'])
      expect(await idsAt(recordsOf, topic)).toEqual(['emit-1', 'emit-2', 'emit-3', 'emit-4']);
  });

  it('waits for the router for a moment, so that a source that never rests is routed at the commit again', async () => {
    const full = new Set<string>();
    const { commit, recordsOf } = await world('at the commit', RELAY, { isFull: (topic) => full.has(topic) });
    full.add('deliveries.wh_1');
    await commit([emit(1)]);
    full.clear();
    await commit([emit(2)]);
    await commit([emit(3)]);
    expect(marked(await recordsOf('emits.dc_a'))).toEqual([false, true, true]);
  });

  it('keeps the order of each listener, and loses and repeats nothing, however room and table change', async () => {
    const random = numbers(7);
    const full = new Set<string>();
    let position: string | undefined;
    const { commit, recordsOf, router } = await world('at the commit', RELAY, {
      isFull: (topic) => full.has(topic),
      tables: { ...FRESH, heldNow: () => position },
    });
    let seq = 0;
    for (let n = 0; n < 200; n++) {
      position = random() < 0.1 ? undefined : '1';
      full.clear();
      if (random() < 0.2) full.add(random() < 0.5 ? 'deliveries.wh_1' : 'invocations.dc_b');
      await commit(Array.from({ length: Math.floor(random() * 5) }, () => emit(++seq)));
      if (random() < 0.3) {
        full.clear();
        await drained(router);
      }
    }
    full.clear();
    await drained(router);
    const all = Array.from({ length: seq }, (_, n) => `emit-${n + 1}`);
    for (const topic of ['deliveries.wh_1', 'invocations.dc_b']) expect(await idsAt(recordsOf, topic)).toEqual(all);
    const marks = marked(await recordsOf('emits.dc_a'));
    expect(new Set(marks)).toEqual(new Set([true, false]));
  }, 30_000);
});

/** Numbers below 1, the same each time. */
const numbers = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};
