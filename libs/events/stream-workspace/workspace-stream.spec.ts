import { describe, expect, it, jest } from '@jest/globals';
import { SHOWN_PER_SECOND } from '#libs/event-streams/index.js';
import { emit, id, T0, topics } from '../testing/emit-record.js';
import { turns } from '../testing/stream-world.js';
import { workspaceStreamWorld } from '../testing/workspace-stream-world.js';

const ofB = { emitter: 'dc_b' };
const cursorAt = (n: number): string => `${T0 + n}/dc_a/${id(n)}`;

// docs/reference/rest-api.md#stream-workspace
describe('the stream of a workspace', () => {
  it('has the events of all its emitters and channels, each with its name and a cursor', async () => {
    const world = await workspaceStreamWorld();
    const stream = await world.open({ eventName: '*' });
    await world.publish(emit(1, { n: 1 }), emit(2, 2, { ...ofB, channel: 'x' }), emit(3, 3, { channel: '$logs' }));
    expect(stream.received()).toEqual([
      {
        event: 'events',
        id: `${T0 + 1}/dc_a/${id(1)}`,
        data: {
          id: id(1),
          indexed_at_ms: T0 + 1,
          event: { n: 1 },
          metadata: { emit_id: 'emit-1', name: '', emitter_id: 'dc_a' },
        },
      },
      { event: 'events', id: `${T0 + 2}/dc_b/${id(2)}`, data: expect.objectContaining({ event: 2 }) },
    ]);
  });

  it('has no record of another workspace', async () => {
    const world = await workspaceStreamWorld();
    const [ours, theirs] = [await world.open(), await world.open({ workspaceId: 'o_2' })];
    const named = await world.open({ workspaceId: 'o_1', emitterId: 'dc_c' });
    await world.publish(emit(1, 1), emit(2, 2, { emitter: 'dc_c', headers: { workspace: 'o_2' } }));
    expect([ours.ids(), theirs.ids(), named.ids()]).toEqual([[`events ${id(1)}`], [`events ${id(2)}`], []]);
  });

  it.each([
    ['logs,errors', undefined, ['logs 2', 'errors 3']],
    ['events', '', ['events 1']],
    ['events', undefined, ['events 1']],
    ['events', '*', ['events 1', 'events 4']],
    ['events,logs', 'x', ['logs 2', 'events 4']],
    ['events', '$platform', ['events 5']],
  ])('has the streams and the channel that are asked for: %s, %j', async (streams, eventName, shown) => {
    const world = await workspaceStreamWorld();
    const asked = { streams, ...(eventName === undefined ? {} : { eventName }) };
    const live = await world.open(asked);
    const channels = ['', '$logs', '$errors', 'x', '$platform', '$sse'];
    await world.publish(...channels.map((channel, i) => emit(i + 1, i + 1, { channel })));
    const kept = await world.open(asked, cursorAt(0));
    for (const stream of [live, kept])
      expect(stream.received().map(({ event, data }) => `${event} ${String(data['event'])}`)).toEqual(shown);
  });

  it('has the events of one emitter', async () => {
    const world = await workspaceStreamWorld();
    const live = await world.open({ emitterId: 'dc_b' });
    await world.publish(emit(1, 1), emit(2, 2, ofB), emit(3, 3, { ...ofB, channel: '$errors' }));
    const kept = await world.open({ emitterId: 'dc_b' }, cursorAt(0));
    for (const stream of [live, kept]) expect(stream.ids()).toEqual([`events ${id(2)}`]);
  });

  it('shortens large events, live and kept, unless whole ones are asked for', async () => {
    const world = await workspaceStreamWorld();
    const large = { text: 'x'.repeat(5_000) };
    const live = [await world.open(), await world.open({ whole: true })];
    await world.publish(emit(1, large));
    const kept = [await world.open({}, cursorAt(0)), await world.open({ whole: true }, cursorAt(0))];
    for (const [short, whole] of [live, kept]) {
      expect(short?.received()[0]?.data).toMatchObject({ truncated: true });
      expect(short?.received()[0]?.data['event']).not.toEqual(large);
      expect(whole?.received()[0]?.data['event']).toEqual(large);
    }
  });

  it('resumes with what is kept from 10 s before the cursor, in the order of time, and then live', async () => {
    const world = await workspaceStreamWorld();
    await world.publish(
      ...[1_000, 9_000, 15_000, 20_000].flatMap((n) => [emit(n, n), emit(n + 1, n + 1, ofB)]),
      emit(20_500, 0, { channel: '$errors' }),
    );
    const stream = await world.open({ streams: 'events,errors' }, cursorAt(18_500));
    await world.publish(emit(30_000, 30_000));
    expect(stream.ids()).toEqual([
      ...[9_000, 9_001, 15_000, 15_001, 20_000, 20_001].map((n) => `events ${id(n)}`),
      `errors ${id(20_500)}`,
      `events ${id(30_000)}`,
    ]);
  });

  it('waits until the lists have what the log had when it began', async () => {
    const world = await workspaceStreamWorld();
    await world.log.publish([emit(1, 1), emit(2, 2, ofB)]);
    const stream = await world.open({}, cursorAt(0));
    expect(stream.ids()).toEqual([`events ${id(1)}`, `events ${id(2)}`]);
  });

  it('tells a reader without a cursor where it is, and one that resumes only once it has what was kept', async () => {
    const world = await workspaceStreamWorld();
    await world.publish(emit(1, 1));
    const place = `:${world.clock.ms}/\nid: ${world.clock.ms}/\n\n`;
    const first = await world.open();
    expect(first.response.text).toBe(`retry: 1000\n:keep-alive\n\n${place}`);
    const resumed = await world.open({}, cursorAt(0));
    expect(resumed.response.text.indexOf(place)).toBeGreaterThan(resumed.response.text.indexOf('event: events'));
  });

  it.each(['nonsense', '17000000000000000/x', `${T0 + 9_000_000}/x`, 'a'.repeat(500)])(
    'tells of a gap for an unknown cursor, and goes on live: %s',
    async (cursor) => {
      const world = await workspaceStreamWorld();
      await world.publish(emit(1, 1));
      const stream = await world.open({}, cursor);
      await world.publish(emit(2, 2));
      expect(stream.ids()).toEqual([`gap {"since":${world.clock.ms}}`, `events ${id(2)}`]);
    },
  );

  it('tells since when all is kept, where a channel has lost events after the cursor', async () => {
    const world = await workspaceStreamWorld({ retained: 3 });
    await world.publish(...Array.from({ length: 60 }, (_, n) => emit(20_000 + n, n)), emit(20_100, 0, ofB));
    const stream = await world.open({}, cursorAt(15_000));
    expect(stream.received()[0]).toEqual({ event: 'gap', data: { since: T0 + 20_057 } });
    expect(stream.ids().slice(-2)).toEqual([`events ${id(20_059)}`, `events ${id(20_100)}`]);
  });

  it('tells of no gap where all after the cursor is kept', async () => {
    const world = await workspaceStreamWorld({ retained: 3 });
    await world.publish(...Array.from({ length: 60 }, (_, n) => emit(20_000 + n, n)));
    expect((await world.open({}, cursorAt(40_000))).ids()).toEqual([]);
    const few = await workspaceStreamWorld({ retained: 3 });
    await few.publish(emit(20_000, 1), emit(20_001, 2));
    expect((await few.open({}, cursorAt(15_000))).ids()).toEqual([`events ${id(20_000)}`, `events ${id(20_001)}`]);
  });

  it.each([
    ['of a source', { sourceBytes: 20_000 }, {}],
    ['of a workspace', { workspaceBytes: 20_000 }, {}],
    ['of a workspace, in the stream of one source', { workspaceBytes: 20_000 }, { emitterId: 'dc_a' }],
  ])('tells of a gap where the bytes %s were too many', async (_, settings, asked) => {
    const world = await workspaceStreamWorld(settings);
    for (let n = 0; n < 40; n++) await world.publish(emit(20_000 + n, 'x'.repeat(800)));
    expect((await world.open(asked, cursorAt(15_000))).received()[0]).toMatchObject({ event: 'gap' });
  });

  // docs/reference/rest-api.md#stream-workspace-skipped
  it('shows no more than 200 live records in a second, and tells how many it left out', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout', 'performance'] });
    try {
      const world = await workspaceStreamWorld();
      const stream = await world.open();
      await world.publish(...Array.from({ length: SHOWN_PER_SECOND + 7 }, (_, n) => emit(n, n)));
      expect(stream.received()).toHaveLength(SHOWN_PER_SECOND);
      world.clock.ms += 1_000;
      jest.advanceTimersByTime(500);
      await turns();
      expect(stream.received().at(-1)).toEqual({ event: 'skipped', data: { count: 7 } });
      await world.publish(emit(1_000, 1));
      expect(stream.ids().at(-1)).toBe(`events ${id(1_000)}`);
    } finally {
      jest.useRealTimers();
    }
  });

  it('reads the log only while a stream is open', async () => {
    const world = await workspaceStreamWorld();
    const tail = jest.spyOn(world.log, 'tail');
    await world.open();
    await world.open({ streams: 'logs' });
    await world.open({ emitterId: 'dc_a' });
    expect(tail).toHaveBeenCalledTimes(1);
    expect(tail.mock.calls[0]?.[0]).toEqual({ prefix: topics.emits('') });
  });
});
