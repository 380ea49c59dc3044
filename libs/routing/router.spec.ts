import { describe, expect, it } from '@jest/globals';
import { FRESH } from '#libs/kernel/testing/fresh-tables.js';
import { ERRORS_CHANNEL } from '#libs/component-model/channels.js';
import { MAX_HOPS } from '#libs/stream-log/envelopes.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { drained } from '#libs/stream-log/testing/drained.js';
import { type Router } from './router.js';
import { emitRecord as emit, removal, routerWorlds, topics } from './testing/router-world.js';

const newWorld = routerWorlds();

const world = async (...subscriptions: (readonly [emitter: string, listener: string, channel?: string])[]) => {
  const { log, start, subscribe: add } = newWorld();
  const subscribe = (emitter: string, listener: string, channel = ''): void => add({ emitter, listener, channel });
  for (const subscription of subscriptions) subscribe(...subscription);
  for (const id of ['dc_a', 'dc_b', 'p_1', 'wh_1', 'wh_2']) {
    for (const { topic, retention } of topics.ownedBy(id)) await log.createTopic(topic, retention);
  }
  const recordsOf = (topic: string): Promise<readonly StoredRecord[]> => log.read(topic, -1, 1_000);
  return { log, start, subscribe, add, recordsOf };
};

describe('the router', () => {
  it('routes no event by a table that is behind: it waits for the subscription that was answered before', async () => {
    const { log, start, subscribe, recordsOf } = await world();
    let caughtUp: () => void = () => undefined;
    const catchingUp = new Promise<void>((resolve) => (caughtUp = resolve));
    const holdAnswered = async (): Promise<boolean> => {
      await catchingUp;
      return true;
    };
    const router = await start({ tables: { ...FRESH, holdAnswered } });
    await log.publish([emit(1)]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(router.backlog()).toBe(1);
    subscribe('dc_a', 'wh_1');
    caughtUp();
    await drained(router);
    expect(await recordsOf('deliveries.wh_1')).toHaveLength(1);
  });

  it('leaves an event to the next router when it closes before its table may decide', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1']);
    const holdAnswered = async (over: () => boolean): Promise<boolean> => {
      while (!over()) await new Promise((resolve) => setTimeout(resolve, 1));
      return false;
    };
    const stale = await start({ tables: { ...FRESH, holdAnswered } });
    await log.publish([emit(1)]);
    await stale.close();
    expect(await recordsOf('deliveries.wh_1')).toEqual([]);
    await drained(await start());
    expect(await recordsOf('deliveries.wh_1')).toHaveLength(1);
  });

  it('examines many long filters in turns in which others are served, and keeps the order, each emit once', async () => {
    const { log, start, add } = await world(['dc_b', 'wh_2']);
    const filters = 60;
    const needle = `ab${'a'.repeat(3_900)}`;
    for (let n = 0; n < filters; n++) add({ listener: 'wh_1', filter: { x: { contains: `${needle}${n}` } } });
    add({ listener: 'wh_1', filter: { x: { contains: 'a' } } });
    const long = JSON.stringify({ x: 'a'.repeat(500_000) });
    await log.publish([emit(1, {}, long), emit(2), emit(3, {}, long)]);
    const router = await start();
    let turns = 0;
    let isOther = false;
    while (router.metrics.emits < 4) {
      await new Promise((resolve) => setImmediate(resolve));
      if (++turns === 10) await log.publish([emit(4, { emitter: 'dc_b' })]);
      isOther ||= router.metrics.deliveries > 0 && router.metrics.emits < 3;
    }
    // There are two events with 60 searches of half a million characters each, of which a turn does at most two.
    expect(turns).toBeGreaterThan(filters);
    expect(isOther).toBe(true);
    const delivered = await log.read('deliveries.wh_1', -1, 100);
    expect(delivered.map(({ headers }) => headers['emit'])).toEqual(['emit-1', 'emit-3']);
    expect(await log.read('deliveries.wh_2', -1, 100)).toHaveLength(1);
  });

  it('leaves an emit whose filters take long to the router, when it is committed', async () => {
    const { start, add } = await world();
    for (let n = 0; n < 9; n++) add({ listener: 'wh_1', filter: { x: { contains: `b${n}` } } });
    const { atCommit } = await start();
    const routes = await atCommit.begin();
    await new Promise((resolve) => setImmediate(resolve));
    expect(routes?.route(emit(1, {}, '{"x":"b3"}'))).toHaveLength(2);
    expect(routes?.route(emit(2, {}, JSON.stringify({ x: `${'a'.repeat(500_000)}b3` })))).toBeUndefined();
    // The turn is over for all emits with a filter, and for no other.
    expect(routes?.route(emit(3, {}, '{"x":"b3"}'))).toBeUndefined();
    expect(routes?.route(emit(4, { emitter: 'dc_b' }))).toHaveLength(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(routes?.route(emit(3, {}, '{"x":"b3"}'))).toHaveLength(2);
  });

  it('passes an event with x-pd-notrigger on to no listener', async () => {
    const { log, start } = await world(['dc_a', 'dc_b'], ['dc_a', 'wh_1']);
    await log.publish([emit(1, { notrigger: '1' }), emit(2)]);
    const router = await start();
    await drained(router);
    expect((await log.read('invocations.dc_b', -1, 10)).map(({ value }) => value)).toEqual(['{"n": 2 }']);
    expect((await log.read('deliveries.wh_1', -1, 10)).map(({ value }) => value)).toEqual(['{"n": 2 }']);
  });

  it('creates an invocation for a source and a delivery for a webhook, with the value unchanged', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'dc_b'], ['dc_a', 'wh_1']);
    await log.publish([emit(1, { hops: '3' }, '{"spaced":   1}')]);
    await drained(await start());

    const [invocation] = await recordsOf('invocations.dc_b');
    expect(invocation).toMatchObject({ key: 'dc_b', value: '{"spaced":   1}' });
    expect(invocation?.headers).toEqual({
      id: expect.stringMatching(/^inv_[0-9a-z]{18}$/),
      kind: 'emit',
      source: 'dc_b',
      workspace: 'o_1',
      at: '1700000000000',
      hops: '4',
      prop: '',
      respond: '',
      emitter: 'dc_a',
      emit: 'emit-1',
      subscription: 'sub_0',
      event: '1700000000000-1',
    });
    const [delivery] = await recordsOf('deliveries.wh_1');
    expect(delivery).toMatchObject({ key: 'wh_1', value: '{"spaced":   1}' });
    expect(delivery?.headers).toEqual({
      id: expect.stringMatching(/^dlv_[0-9a-z]{18}$/),
      webhook: 'wh_1',
      workspace: 'o_1',
      emitter: 'dc_a',
      channel: '',
      emit: 'emit-1',
      event: '1700000000000-1',
      attempt: '1',
      at: '1700000000500',
    });
  });

  it('holds emits for a full listener in their own lane only, and continues when there is room', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1'], ['dc_b', 'wh_2']);
    const full = new Set(['deliveries.wh_1']);
    await log.publish([emit(1), emit(2), emit(3, { emitter: 'dc_b' })]);
    const router = await start({ isFull: (topic: string) => full.has(topic) });
    while (router.metrics.held < 1 || router.metrics.deliveries < 1)
      await new Promise<void>((resolve) => setImmediate(resolve));
    expect(await recordsOf('deliveries.wh_1')).toEqual([]);
    expect(await recordsOf('deliveries.wh_2')).toHaveLength(1);
    expect(router.unroutedOf('dc_a')).toBe(2);
    full.clear();
    await drained(router);
    expect((await recordsOf('deliveries.wh_1')).map(({ headers }) => headers['emit'])).toEqual(['emit-1', 'emit-2']);
  });

  it('publishes the records of a batch in one call, in order', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1'], ['dc_a', 'wh_2']);
    await log.publish(Array.from({ length: 100 }, (_, i) => emit(i)));
    const before = log.published.length;
    await drained(await start({ maxBatch: 100 }));
    expect(log.published.length - before).toBe(1);
    const values = (await recordsOf('deliveries.wh_2')).map(({ value }) => value);
    expect(values).toEqual(Array.from({ length: 100 }, (_, i) => `{"n": ${i} }`));
  });

  it('bounds one publish when few emits have many listeners', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1'], ['dc_a', 'wh_2']);
    await log.publish(Array.from({ length: 10 }, (_, i) => emit(i)));
    const before = log.published.length;
    await drained(await start({ maxPublish: 4 }));
    expect(log.published.slice(before).map((records) => records.length)).toEqual([4, 4, 4, 4, 4]);
    expect(await recordsOf('deliveries.wh_1')).toHaveLength(10);
  });

  it('derives the id of a delivery from emit and subscription', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1'], ['dc_*', 'wh_1']);
    await log.publish([emit(1), emit(2)]);
    await drained(await start());
    const ids = (await recordsOf('deliveries.wh_1')).map(({ headers }) => headers['id']);
    expect(new Set(ids).size).toBe(4);
  });

  it('routes an emit again with the same ids after a crash between publish and ack', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1'], ['dc_a', 'dc_b']);
    await log.publish([emit(1), emit(2)]);
    // The publish reaches the log, but the router never gets the result.
    const publish = log.publish.bind(log);
    let crashed = false;
    log.publish = async (records) => {
      const offsets = await publish(records);
      if (!crashed) {
        crashed = true;
        throw new Error('connection lost');
      }
      return offsets;
    };
    const router = await start();
    await drained(router);
    // The lane of each listener fails once.
    expect(router.failures()).toBe(2);
    for (const topic of ['deliveries.wh_1', 'invocations.dc_b']) {
      const ids = (await recordsOf(topic)).map(({ headers }) => headers['id']);
      expect(ids).toHaveLength(4);
      expect(ids.slice(2)).toEqual(ids.slice(0, 2));
    }
  });

  it('acknowledges and loses nothing in a crash before the publish', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1']);
    await log.publish([emit(1)]);
    log.onNextPublish(() => {
      throw new Error('disk full');
    });
    const router = await start();
    await drained(router);
    expect(router.failures()).toBe(1);
    expect(await recordsOf('deliveries.wh_1')).toHaveLength(1);
  });

  it('drops records for a listener whose topic no longer exists', async () => {
    const { log, start } = await world(['dc_a', 'wh_1']);
    await log.deleteTopic('deliveries.wh_1');
    await log.publish([emit(1)]);
    const router = await start();
    await drained(router);
    expect(router.metrics).toMatchObject({ emits: 1, dropped: 1, deliveries: 0 });
  });

  it('creates an invocation for a workflow, and passes on the events of one, but no removal', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'p_1'], ['p_*', 'dc_b'], ['p_2', 'dc_b']);
    await log.publish([emit(1), removal(2), emit(3, { emitter: 'p_1', hops: '1' })]);
    const router = await start();
    await drained(router);
    expect(router.metrics).toMatchObject({ emits: 3, invocations: 2 });
    const [invocation, ...more] = await recordsOf('invocations.p_1');
    expect(more).toEqual([]);
    expect(invocation).toMatchObject({ key: 'p_1', value: '{"n": 1 }' });
    expect(invocation?.headers).toMatchObject({ kind: 'emit', source: 'p_1', emitter: 'dc_a', hops: '1' });
    const heard = await recordsOf('invocations.dc_b');
    expect(heard.map(({ headers }) => [headers['emitter'], headers['hops']])).toEqual([['p_1', '2']]);
  });

  it('never parses a value', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1']);
    await log.publish([emit(1, {}, 'not JSON at all')]);
    await drained(await start());
    expect((await recordsOf('deliveries.wh_1'))[0]?.value).toBe('not JSON at all');
  });

  describe('with a listener that has a backlog', () => {
    const listening = (waiting: ReadonlyMap<string, number>, over: object = {}) => ({
      listeners: { waitingFor: (id: string) => waiting.get(id) ?? 0, limit: 10, loopLimit: 3, ...over },
    });
    const held = async (router: Router): Promise<void> => {
      while (router.metrics.held === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => setTimeout(resolve, 30));
    };

    it('holds the emits of its emitter, and no others, until it has room, and loses none', async () => {
      const { log, start, recordsOf } = await world(['dc_a', 'wh_1'], ['dc_a', 'dc_b'], ['dc_b', 'wh_2']);
      const waiting = new Map([['dc_b', 10]]);
      await log.publish([emit(1), emit(2, { emitter: 'dc_b' })]);
      const router = await start(listening(waiting));
      await held(router);
      expect(router.unroutedOf('dc_a')).toBe(1);
      expect(await recordsOf('deliveries.wh_1')).toHaveLength(0);
      expect(await recordsOf('deliveries.wh_2')).toHaveLength(1);
      waiting.set('dc_b', 9);
      await drained(router);
      expect(await recordsOf('invocations.dc_b')).toHaveLength(1);
      expect(await recordsOf('deliveries.wh_1')).toHaveLength(1);
      expect(router.metrics).toMatchObject({ held: 1, loopsGivenUp: 0 });
    });

    it('gives a listener all emits without that limit (control)', async () => {
      const { log, start, recordsOf } = await world(['dc_a', 'dc_a']);
      await log.publish([1, 2, 3, 4].map((n) => emit(n)));
      await drained(await start());
      expect(await recordsOf('invocations.dc_a')).toHaveLength(4);
    });

    it('stops holding when the lane is revoked', async () => {
      const { log, start } = await world(['dc_a', 'dc_b']);
      await log.publish([emit(1)]);
      const router = await start(listening(new Map([['dc_b', 99]])));
      await held(router);
      await router.close();
      expect(log.uncommitted('router', topics.emits('dc_a'))).toBe(1);
    });

    it('drops the emits of a growing loop, reports it once to the emitter, and routes on', async () => {
      const { log, start, recordsOf } = await world(
        ['dc_a', 'dc_b'],
        ['dc_b', 'dc_a'],
        ['dc_a', 'wh_1'],
        ['dc_a', 'wh_2', '$errors'],
      );
      await log.publish([1, 2, 3, 4, 5].map((n) => emit(n, { hops: '2' })));
      const waiting = new Map([['dc_b', 10]]);
      const router = await start(listening(waiting));
      while (router.metrics.loopsGivenUp === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      waiting.delete('dc_b');
      await drained(router);
      expect(router.metrics.loopsGivenUp).toBe(5);
      expect(await recordsOf('invocations.dc_b')).toHaveLength(0);
      expect(await recordsOf('deliveries.wh_1')).toHaveLength(5);
      const [told, ...more] = await recordsOf('deliveries.wh_2');
      expect(more).toEqual([]);
      expect(JSON.parse(told?.value ?? '')).toMatchObject({
        original_context: { id: 'emit-1', hops: 2 },
        error: { code: 'LoopOverflow', message: expect.stringContaining('not passed on to dc_b') },
      });
    });

    it('waits in a loop too while few emits wait, so that one event may become many', async () => {
      const { log, start, recordsOf } = await world(['dc_a', 'dc_a']);
      const waiting = new Map([['dc_a', 10]]);
      await log.publish([emit(1), emit(2)]);
      const router = await start(listening(waiting));
      await held(router);
      waiting.delete('dc_a');
      await drained(router);
      expect(await recordsOf('invocations.dc_a')).toHaveLength(2);
    });
  });

  it('skips and reports a record that cannot be routed, and continues with the next', async () => {
    const { log, start, recordsOf } = await world(['dc_a', 'wh_1']);
    const bad = emit(2, { hops: String(MAX_HOPS), id: 'not an id' });
    expect(() => new Date(Number('not an id')).toISOString()).toThrow(RangeError);
    await log.publish([emit(1), bad, emit(3)]);
    const told: object[] = [];
    const router = await start({ logger: { error: (fields) => void told.push(fields) } });
    await drained(router);
    expect(await recordsOf('deliveries.wh_1')).toHaveLength(2);
    expect(router.metrics.poisoned).toBe(1);
    expect(router.failures()).toBe(0);
    expect(told).toEqual([expect.objectContaining({ offset: 1, error: expect.stringContaining('RangeError') })]);
  });

  describe(`at ${MAX_HOPS} hops`, () => {
    const atLimit = { hops: String(MAX_HOPS) };

    it('passes the last hop on', async () => {
      const { log, start, recordsOf } = await world(['dc_a', 'dc_b']);
      await log.publish([emit(1, { hops: String(MAX_HOPS - 1) })]);
      await drained(await start());
      expect((await recordsOf('invocations.dc_b'))[0]?.headers['hops']).toBe(String(MAX_HOPS));
    });

    it('gives the emitter an error event instead of passing the emit on', async () => {
      const { log, start, recordsOf } = await world(['dc_a', 'dc_b'], ['dc_a', 'wh_1']);
      await log.publish([emit(7, atLimit, '{"loop":true}')]);
      await drained(await start());
      expect(await recordsOf('invocations.dc_b')).toEqual([]);
      expect(await recordsOf('deliveries.wh_1')).toEqual([]);
      const [, error] = await recordsOf('emits.dc_a');
      expect(error?.headers).toMatchObject({
        kind: 'emit',
        channel: ERRORS_CHANNEL,
        emitter: 'dc_a',
        workspace: 'o_1',
        hops: '32',
        id: '1700000000000-1000007',
        emit: expect.stringMatching(/^[0-9A-Za-z]{27}$/),
      });
      expect(JSON.parse(error?.value ?? '')).toMatchObject({
        original_event: { loop: true },
        original_context: { id: 'emit-7', source_id: 'dc_a', owner_id: 'o_1', ts: '2023-11-14T22:13:20.000Z' },
        error: { code: 'HopLimitExceeded', message: expect.stringContaining('the limit is 32') },
      });
    });

    it('reports to webhooks that listen to errors, and lets no source loop through its errors', async () => {
      const { log, start, recordsOf } = await world(
        ['dc_a', 'dc_a'],
        ['dc_a', 'dc_a', '$errors'],
        ['dc_a', 'wh_1', '$errors'],
      );
      await log.publish([emit(1, atLimit)]);
      const router = await start();
      await drained(router);
      expect(await recordsOf('invocations.dc_a')).toEqual([]);
      expect(await recordsOf('deliveries.wh_1')).toHaveLength(1);
      expect(await recordsOf('emits.dc_a')).toHaveLength(2);
      expect(router.metrics.hopLimited).toBe(2);
    });

    it('creates nothing without listeners', async () => {
      const { log, start, recordsOf } = await world();
      await log.publish([emit(1, atLimit)]);
      await drained(await start());
      expect(await recordsOf('emits.dc_a')).toHaveLength(1);
    });
  });
});
