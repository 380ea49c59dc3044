import { describe, expect, it } from '@jest/globals';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { drained } from '#libs/stream-log/testing/drained.js';
import { emitRecord, routerWorlds, topics } from './testing/router-world.js';

const emit = (n: number): LogRecord => emitRecord(n, {}, String(n));
const emits = (count: number, from = 0): LogRecord[] => Array.from({ length: count }, (_, n) => emit(from + n));
const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));
const until = async (holds: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 2))) {
    if (Date.now() > end) throw new Error(`still waiting for ${holds.toString()}`);
  }
};

const newWorld = routerWorlds();

/** Two webhooks listen to one source. The lane of wh_off cannot be written. */
const world = async () => {
  const { log, delayed, start, subscribe } = newWorld();
  for (const listener of ['wh_off', 'wh_on']) {
    subscribe({ listener });
    await log.createTopic(topics.deliveries(listener));
  }
  await log.createTopic('emits.dc_a');
  log.hang('deliveries.wh_off');
  const valuesOf = (id: string): string[] => log.recordsOf(topics.deliveries(id)).map(({ value }) => value);
  return { log, delayed, start, valuesOf };
};

describe('the router, while the lane of one listener cannot be written', () => {
  it('passes events on to the other once each, and to that one in order once it can be', async () => {
    const { log, start, valuesOf } = await world();
    await log.publish(emits(200));
    const router = await start();
    await until(() => valuesOf('wh_on').length === 200);
    // No event is acknowledged while the record for one of its listeners is missing.
    expect(router.backlog()).toBe(200);
    for (const n of [200, 201]) {
      log.refuse('deliveries.wh_off');
      await log.publish([emit(n)]);
      await until(() => valuesOf('wh_on').length === n + 1);
    }
    await until(() => log.hangingOf('deliveries.wh_off') > 0);
    log.recover('deliveries.wh_off');
    await drained(router);
    expect(valuesOf('wh_off')).toEqual(numbers(202));
    expect(valuesOf('wh_on')).toEqual(numbers(202));
  });

  it('holds the emitter once a bounded number of its records wait', async () => {
    const { log, start, valuesOf } = await world();
    await log.publish(emits(100));
    const router = await start({ maxWaiting: 20, maxBatch: 10, maxPublish: 10 });
    // A flush of five events after the bound, each with a record for both.
    await until(() => valuesOf('wh_on').length >= 20);
    for (let turn = 0; turn < 200; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(valuesOf('wh_on').length).toBeLessThanOrEqual(30);
    log.recover('deliveries.wh_off');
    await drained(router);
    expect(valuesOf('wh_off')).toEqual(numbers(100));
    expect(valuesOf('wh_on')).toEqual(numbers(100));
  });

  it('leaves what waits to the next router when it closes, and acknowledges none of it', async () => {
    const { log, start, valuesOf } = await world();
    await log.publish(emits(3));
    const first = await start();
    await until(() => valuesOf('wh_on').length === 3);
    await first.close();
    expect(log.uncommitted('router', 'emits.dc_a')).toBe(3);
    // A record in flight at the close is refused, and not tried again.
    log.refuse('deliveries.wh_off');
    expect(log.hangingOf('deliveries.wh_off')).toBe(0);
    log.recover('deliveries.wh_off');
    await drained(await start());
    expect(valuesOf('wh_off')).toEqual(numbers(3));
  });

  it('leaves the lane to another router that claims it, which routes all of it', async () => {
    const { log, start, valuesOf } = await world();
    await log.publish(emits(3));
    const first = await start();
    await until(() => valuesOf('wh_on').length === 3);
    const second = await start();
    // One of the two routers gets the lane.
    log.refuse('deliveries.wh_off');
    log.recover('deliveries.wh_off');
    await until(() => first.backlog() + second.backlog() === 0);
    expect([...new Set(valuesOf('wh_off'))]).toEqual(numbers(3));
  });

  it('publishes nothing twice when a batch is redelivered for another reason', async () => {
    const { log, delayed, start, valuesOf } = await world();
    let refusals = 0;
    delayed.beforeChange = () => {
      if (refusals++ < 1) throw new Error('the store is away');
    };
    const delay = { kind: 'delay', out: '', deliver: '5' };
    const held = emit(5);
    // The delayed event follows in the same batch, behind records in flight.
    await log.publish([...emits(5), { ...held, headers: { ...held.headers, ...delay } }]);
    const router = await start({ maxPublish: 2 });
    await until(() => refusals > 1);
    log.recover('deliveries.wh_off');
    await drained(router);
    expect(router.failures()).toBe(1);
    expect(valuesOf('wh_on')).toEqual(numbers(5));
    expect(valuesOf('wh_off')).toEqual(numbers(5));
  });
});
