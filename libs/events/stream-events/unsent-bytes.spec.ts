import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { emit } from '../testing/emit-record.js';
import { kept, large, MB, PUBLIC, StreamWorld, turns } from '../testing/stream-world.js';

/** Consecutive checks without progress after which a stream is cut. */
const STALLED_CHECKS = 20;

let world: StreamWorld;
beforeEach(async () => {
  // Checks in real time would add to those of a spec.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  world = new StreamWorld();
  await world.start();
});
afterEach(async () => {
  await world.streams.onModuleDestroy();
  jest.useRealTimers();
});

const CHECK_MS = 500;
const check = (times: number): void => void jest.advanceTimersByTime(times * CHECK_MS);

// docs/reference/limits.md#streams
describe('the number of streams', () => {
  it('is limited for each user, whichever keys they use, and a stream that ended makes room', async () => {
    const first = await world.open();
    await world.open();
    await world.open();
    await expect(world.open()).rejects.toMatchObject({
      code: 'stream.too_many',
      details: { scope: 'user', limit: 3, actual: 3, setting: 'SLUICE_STREAMS_PER_USER' },
    });
    await world.open({}, 'u_2');
    first.response.emit('close');
    expect(world.streams.size).toBe(3);
    await world.open();
  });

  it('leaves half to other workspaces, and the process has a limit', async () => {
    for (let user = 1; user <= 5; user++) for (let n = 0; n < 3; n++) await world.open({}, `u_${user}`);
    await expect(world.open({}, 'u_6')).rejects.toMatchObject({
      details: { scope: 'workspace', limit: 15, actual: 15, setting: 'SLUICE_STREAMS_PER_USER' },
    });
    for (let user = 6; user <= 10; user++) for (let n = 0; n < 3; n++) await world.open({}, `u_${user}`, 'o_2');
    await expect(world.open({}, 'u_11', 'o_3')).rejects.toMatchObject({
      details: { scope: 'process', limit: 30, actual: 30, setting: 'SLUICE_STREAMS_PER_USER' },
    });
  });

  // docs/reference/rest-api.md#stream-public
  it('has room of its own for readers without a key, 100 in each workspace', async () => {
    world = new StreamWorld({ perUser: 30 });
    await world.start();
    for (let n = 0; n < 100; n++) await world.open({}, PUBLIC);
    const refused = await world.open({}, PUBLIC).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'stream.too_many',
      details: { scope: 'workspace', limit: 100, actual: 100 },
    });
    expect(String(refused)).not.toMatch(/o_1/);
    await world.open({}, PUBLIC, 'o_2');
    for (let n = 0; n < 30; n++) await world.open();
    expect(world.streams.size).toBe(131);
  });

  it('does not grow by a stream that could not be opened', async () => {
    const tail = jest.spyOn(world.log, 'tail').mockRejectedValue(new Error('no broker'));
    for (let n = 0; n < 5; n++) await expect(world.open()).rejects.toThrow('no broker');
    tail.mockRestore();
    expect(world.streams.size).toBe(0);
    expect(world.ended).toEqual([]);
    await world.open();
  });
});

// docs/reference/limits.md#stream-unsent
describe('what clients do not read', () => {
  it('is in memory once, however many streams show the event, and encoded once for each form', async () => {
    const from = jest.spyOn(Buffer, 'from');
    const all = [
      await world.openUnread(),
      await world.openUnread({ form: 'envelope' }),
      await world.openUnread(),
      await world.openUnread({}, 'u_2', 'o_2'),
    ];
    const encodings = (): number =>
      from.mock.calls.filter(([text]) => typeof text === 'string' && text.includes('data: ')).length;
    await world.publish(emit(1, large(3)));
    expect(encodings()).toBe(2);
    expect(world.streams.unsentBytes).toBeGreaterThan(6 * MB);
    expect(world.streams.unsentBytes).toBeLessThan(6.5 * MB);
    // No stream shows the event.
    await world.publish(emit(2, large(3), { emitter: 'dc_b' }), emit(3, 3, { channel: 'x' }));
    expect(encodings()).toBe(2);
    from.mockRestore();
    expect(world.ended).toEqual([]);
    for (const { response } of all) response.read();
    await turns();
    expect(world.streams.unsentBytes).toBe(0);
    expect(all.map(({ response }) => response.data.length)).toEqual([1, 1, 1, 1]);
  });

  it('is cut after 20 checks without progress, when it is more than 1 MB', async () => {
    const { response } = await world.openUnread();
    await world.publish(emit(1, 'x'.repeat(900_000)));
    check(100);
    await world.publish(emit(2, large(2)));
    check(STALLED_CHECKS - 1);
    response.readOnce();
    await turns();
    check(STALLED_CHECKS);
    expect(world.ended).toEqual([]);
    check(1);
    expect(world.ended).toMatchObject([{ why: 'too slow', userId: 'u_1', workspaceId: 'o_1', events: 0 }]);
    expect(response.destroyed).toBe(true);
    expect([world.streams.size, world.streams.unsentBytes]).toEqual([0, 0]);
  });

  it('waits while the client reads a little, although an event is far above 1 MB', async () => {
    const { response } = await world.openUnread();
    await world.publish(emit(1, large(6)));
    for (let n = 0; n < 120 && world.streams.unsentBytes > 0; n++) {
      check(STALLED_CHECKS - 1);
      response.readOnce();
      await turns();
    }
    expect(world.ended).toEqual([]);
    expect(response.data).toEqual([large(6)]);
  });

  it('does not count against a client while nothing is sent to it', async () => {
    await world.open();
    await world.publish(emit(1, large(3)));
    check(3 * STALLED_CHECKS);
    expect(world.ended).toEqual([]);
  });

  it('is limited for each user: the stream with the most is cut first, and the others get theirs', async () => {
    const [most, other] = [await world.openUnread(), await world.openUnread({ channel: 'x' })];
    const neighbour = await world.openUnread({ emitterId: 'dc_b' }, 'u_2', 'o_2');
    await world.publish(emit(1, large(5)), emit(2, large(2), { channel: 'x' }), emit(3, large(3), { emitter: 'dc_b' }));
    expect(world.ended).toEqual([]);
    await world.publish(emit(4, large(1), { channel: 'x' }), emit(5, large(1), { channel: 'x' }));
    expect(world.ended).toMatchObject([{ why: 'too much unsent', channel: '', userId: 'u_1' }]);
    expect([most.response.destroyed, other.response.destroyed]).toEqual([true, false]);
    for (const { response } of [other, neighbour]) response.read();
    await turns();
    expect(other.response.data).toEqual([large(2), large(1), large(1)]);
    expect(neighbour.response.data).toEqual([large(3)]);
  });

  // docs/reference/rest-api.md#stream-public
  it('of readers without a key is cut first, however little it is', async () => {
    const open = await world.openUnread({ channel: 'p' }, PUBLIC);
    for (const [n, channel] of ['a', 'b', 'c'].entries()) {
      await world.openUnread({ channel }, `u_${channel}`);
      await world.publish(emit(n, `${channel}${large(3)}`, { channel }));
    }
    await world.publish(emit(3, large(2), { channel: 'p' }));
    expect(world.ended).toEqual([]);
    await world.openUnread({ channel: 'd' }, 'u_d');
    await world.publish(emit(4, `d${large(2)}`, { channel: 'd' }));
    expect(world.ended).toMatchObject([{ why: 'too much unsent', channel: 'p', apiKeyId: null }]);
    expect(open.response.destroyed).toBe(true);
  });

  it('is limited for each workspace', async () => {
    const channels = ['a', 'b', 'c', 'd', 'e'];
    for (const channel of channels) await world.openUnread({ channel }, `u_${channel}`);
    for (const [n, channel] of channels.entries()) await world.publish(emit(n, `${channel}${large(3)}`, { channel }));
    expect(world.ended).toHaveLength(2);
    expect(new Set(world.ended.map(({ why }) => why))).toEqual(new Set(['too much unsent']));
  });

  it('is limited in the process: the user who holds the most loses a stream, not who gets a large event', async () => {
    for (const channel of ['a', 'b', 'c']) await world.openUnread({ channel }, 'u_1', 'o_1');
    for (const channel of ['d', 'e', 'f']) await world.openUnread({ channel }, 'u_2', 'o_2');
    for (const [n, channel] of ['a', 'b', 'c', 'd', 'e', 'f'].entries())
      await world.publish(emit(n, `${channel}${large(2)}`, { channel }));
    expect(world.ended).toEqual([]);
    const neighbour = await world.openUnread({ emitterId: 'dc_b' }, 'u_3', 'o_3');
    await world.publish(emit(9, large(5), { emitter: 'dc_b' }));
    expect(world.ended.map(({ why }) => why)).toEqual(['too much unsent']);
    neighbour.response.read();
    await turns();
    expect(neighbour.response.data).toEqual([large(5)]);
  });

  it('counts events that wait for a replay, and those that are replayed', async () => {
    const waiting = await world.open();
    for (let n = 1; n <= 2; n++) await world.publish(emit(n, `${n}${large(3)}`));
    expect(world.streams.unsentBytes).toBeGreaterThan(6 * MB);
    await world.publish(emit(3, `3${large(3)}`));
    expect(world.ended).toMatchObject([{ why: 'too much unsent' }]);
    const replayed = await world.openUnread({ channel: 'x' });
    const three = [1, 2, 3].map((n) => kept(n, `${n}${large(3)}`));
    await world.streams.replay(replayed.stream, three);
    expect(world.ended).toHaveLength(2);
    expect(waiting.stream.isOver && replayed.stream.isOver).toBe(true);
    expect(world.streams.unsentBytes).toBe(0);
  });

  it('counts the references to many small events', async () => {
    await world.openUnread();
    const some = (from: number) => Array.from({ length: 1_000 }, (_, n) => emit(from + n, 1));
    for (let n = 0; n < 5; n++) await world.log.publish(some(1_000 * n));
    await turns();
    expect(world.streams.unsentBytes).toBeGreaterThan(5_000 * 64);
  });

  it('costs no other stream an event', async () => {
    const well = await world.open();
    well.stream.release();
    const stuck = await world.openUnread({}, 'u_2');
    await world.publish(emit(1, large(7)));
    await world.publish(emit(2, `2${large(3)}`));
    expect(world.ended).toMatchObject([{ userId: 'u_2' }]);
    expect(stuck.response.destroyed).toBe(true);
    expect(well.response.data).toEqual([large(7), `2${large(3)}`]);
  });
});
