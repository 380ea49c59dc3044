import { EventEmitter } from 'node:events';
import { type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pause } from '#libs/async/pause.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { DEFAULT_EVENT_SETTINGS, type StreamPorts } from '../ports.js';
import { eventSummariesProjection } from '../read-models/event-summaries.projection.js';
import { emit, id, topics } from '../testing/emit-record.js';
import {
  type EndedStream,
  type EventStream,
  STALLED_CHECKS,
  type StreamFrame,
  type StreamOptions,
} from './event-stream.js';
import { EventStreams } from './event-streams.js';
import { KeptEvents, type Resume } from './kept-events.js';
import { liveEvent, type StreamForm } from './live-event.js';
import { type UnsentLimits } from './unsent-bytes.js';

/** A response whose client reads only when told. */
class FakeResponse extends EventEmitter {
  written: Buffer[] = [];
  destroyed = false;
  reads = true;
  private unread: { readonly bytes: number; readonly taken: () => void }[] = [];
  get writableLength(): number {
    return this.unread.reduce((sum, { bytes }) => sum + bytes, 0);
  }
  get writableNeedDrain(): boolean {
    return this.writableLength > 16_384;
  }
  get text(): string {
    return Buffer.concat(this.written).toString();
  }
  writeHead(): this {
    return this;
  }
  write(part: Buffer, taken: () => void): boolean {
    this.written.push(part);
    if (this.reads) taken();
    else this.unread.push({ bytes: part.length, taken });
    return !this.writableNeedDrain;
  }
  /** Takes what was written so far. */
  readOnce(): void {
    for (const { taken } of this.unread.splice(0)) taken();
    this.emit('drain');
  }
  read(): void {
    this.reads = true;
    this.readOnce();
  }
  end(): void {
    this.emit('close');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  /** Values of the events that were written. */
  get data(): unknown[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as unknown);
  }
}

const OPTIONS: StreamOptions = { emitterId: 'dc_a', channel: '', form: 'plain' };
const MB = 1 << 20;
const LIMITS: UnsentLimits = { user: 8 * MB, workspace: 12 * MB, process: 16 * MB };

let log: InMemoryStreamLog;
let streams: EventStreams;
let ended: EndedStream[];
let allowed: boolean;
let exists: boolean;
let stopping: boolean;
let opened: EventStream[];
let ports: StreamPorts;

beforeEach(async () => {
  log = new InMemoryStreamLog();
  opened = [];
  ended = [];
  [allowed, exists, stopping] = [true, true, false];
  for (const emitter of ['dc_a', 'dc_b', 'p_a']) await log.createTopic(topics.emits(emitter), {});
  ports = {
    settings: { perUser: 3, inAll: 16, unsent: LIMITS },
    mayRead: () => allowed,
    exists: () => exists,
    shuttingDown: () => stopping,
    onEnded: (each) => void ended.push(each),
  };
  streams = new EventStreams(log, ports);
});
afterEach(() => streams.onModuleDestroy());

const open = async (
  options: Partial<StreamOptions> = {},
  user = 'u_1',
  workspaceId = 'o_1',
): Promise<{ stream: EventStream; response: FakeResponse }> => {
  const response = new FakeResponse();
  const reader = { apiKeyId: 'key_1', userId: user, workspaceId };
  const given = { ...OPTIONS, ...options };
  const stream = await streams.open(given, reader, response as unknown as ServerResponse, 'keep');
  opened.push(stream);
  stream.open('keep');
  await turns();
  return { stream, response };
};
/** A stream whose live events do not wait. Its client reads nothing. */
const openUnread = async (options: Partial<StreamOptions> = {}, user = 'u_1', workspaceId = 'o_1') => {
  const { stream, response } = await open(options, user, workspaceId);
  stream.release();
  response.reads = false;
  return { stream, response };
};
/** Lets everything be written that may be. */
const turns = async (): Promise<void> => {
  for (let n = 0; n < 300; n++) await new Promise((resolve) => setImmediate(resolve));
};
const publish = async (...records: LogRecord[]): Promise<void> => {
  await log.publish(records);
  await turns();
};
const event = (n: number, payload: unknown = n): StreamFrame => {
  const emitted = { emitterId: 'dc_a', channel: '', eventId: id(n), emitId: `emit-${n}` };
  const made = liveEvent(emitted, JSON.stringify(payload));
  if (!made) throw new Error('no event');
  return { sort: made.sort, frame: made.frame('plain') };
};
const large = (mb: number): string => 'x'.repeat(mb * MB);
const until = async (done: () => boolean): Promise<void> => {
  for (const end = Date.now() + 10_000; !done(); await new Promise((resolve) => setTimeout(resolve, 5)))
    if (Date.now() > end) throw new Error(`still waiting for ${done.toString()}`);
};

describe('open streams', () => {
  it('get the events of their emitter and channel, and no others', async () => {
    const [one, other, named] = [await open(), await open({ emitterId: 'dc_b' }, 'u_2'), await open({ channel: 'x' })];
    for (const { stream } of [one, other, named]) stream.release();
    await publish(emit(1, 1), emit(2, 2, { channel: 'x' }), emit(3, 3, { emitter: 'dc_b' }), emit(4, 4));
    expect(one.response.data).toEqual([1, 4]);
    expect(other.response.data).toEqual([3]);
    expect(named.response.data).toEqual([2]);
  });

  // docs/reference/rest-api.md#stream-workflows
  it('of a workflow name the channel, and leave out those of the platform', async () => {
    const { stream, response } = await open({ emitterId: 'p_a', channel: undefined, form: 'named' });
    stream.release();
    const of = (n: number, channel: string) => emit(n, n, { emitter: 'p_a', channel });
    await publish(of(1, ''), of(2, 'a\nb'), of(3, '$errors'), of(4, '$logs'));
    expect(response.text.slice(response.text.indexOf('id:'))).toBe(
      `id: ${id(1)}\nevent: \ndata: 1\n\nid: ${id(2)}\nevent: a b\ndata: 2\n\n`,
    );
  });

  // docs/reference/rest-api.md#stream-test-events
  it.each<StreamForm>(['plain', 'envelope', 'named'])(
    'mark what triggers nothing as a test, and no sample event: %s',
    async (form) => {
      const { stream, response } = await open({ form });
      stream.release();
      const headers = { test: '1', notrigger: '1' };
      await publish(emit(1, 1, { headers }), emit(2, 2, { headers: { test: '1' } }), emit(3, 3));
      const names = response.text.split('\n\n').filter((block) => block.startsWith('id:'));
      const other = form === 'named' ? '' : undefined;
      expect(names.map((block) => /^event: (.*)$/m.exec(block)?.[1])).toEqual(['test', other, other]);
    },
  );

  it('are sent neither deletions nor events that wait', async () => {
    const { stream, response } = await open();
    stream.release();
    await publish(...['delete', 'delay', 'due'].map((kind, n) => emit(n, n, { headers: { kind } })));
    expect(response.data).toEqual([]);
  });

  it('keep a line break within the JSON on one line', async () => {
    const { stream, response } = await open();
    stream.release();
    await publish({ ...emit(1, 0), value: '{\n"a":\r\n1}' });
    expect(response.written.at(-1)?.toString()).toBe(`id: ${id(1)}\ndata: { "a": 1}\n\n`);
  });

  it('wait with live events until what is kept was replayed, and send none twice', async () => {
    const { stream, response } = await open();
    await publish(emit(3, 3), emit(4, 4));
    await streams.replay(stream, [event(1), event(3)]);
    await turns();
    expect(response.data).toEqual([1, 3]);
    stream.release();
    await publish(emit(4, 4), emit(5, 5));
    expect(response.data).toEqual([1, 3, 4, 5]);
  });

  it('wait for the client while events are replayed', async () => {
    const { stream, response } = await open();
    response.reads = false;
    let sent = false;
    const replay = streams.replay(stream, [event(1, large(1))]).then(() => (sent = true));
    await turns();
    expect(sent).toBe(false);
    response.read();
    await replay;
    expect(response.data).toEqual([large(1)]);
  });

  it.each([
    ['access lost', () => (allowed = false)],
    ['emitter deleted', () => (exists = false)],
    ['shutting down', () => (stopping = true)],
  ])('end by themselves: %s', async (why, change) => {
    const { stream } = await open();
    stream.release();
    change();
    await until(() => ended.length > 0);
    expect(ended).toMatchObject([{ why, emitterId: 'dc_a' }]);
  });

  // docs/reference/rest-api.md#stream-keep-alive
  it('get a comment at once, and then every 15 s, unless bytes wait for the client', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      const { stream, response } = await open();
      stream.release();
      const comments = (): number => response.text.match(/^:keep$/gm)?.length ?? 0;
      const pass = async (ms: number): Promise<void> => {
        jest.advanceTimersByTime(ms);
        await turns();
      };
      expect(comments()).toBe(1);
      await pass(14_900);
      expect(comments()).toBe(1);
      await pass(100);
      expect(comments()).toBe(2);
      await pass(15_000);
      expect(comments()).toBe(3);
      response.reads = false;
      await publish(emit(1, 1));
      await pass(30_000);
      expect(comments()).toBe(3);
    } finally {
      jest.useRealTimers();
    }
  });
});

// docs/reference/limits.md#streams
describe('the number of streams', () => {
  it('is limited for each user, whichever keys they use, and a stream that ended makes room', async () => {
    const first = await open();
    await open();
    await open();
    await expect(open()).rejects.toMatchObject({
      code: 'stream.too_many',
      details: { scope: 'user', limit: 3, actual: 3, setting: 'SLUICE_STREAMS_PER_USER' },
    });
    await open({}, 'u_2');
    first.response.emit('close');
    expect(streams.size).toBe(3);
    await open();
  });

  it('leaves half to other workspaces, and the process has a limit', async () => {
    for (const user of ['u_1', 'u_2', 'u_3', 'u_4']) for (let n = 0; n < 2; n++) await open({}, user);
    await expect(open({}, 'u_5')).rejects.toMatchObject({
      details: { scope: 'workspace', limit: 8, actual: 8, setting: 'SLUICE_STREAMS' },
    });
    for (const user of ['u_5', 'u_6', 'u_7', 'u_8']) for (let n = 0; n < 2; n++) await open({}, user, 'o_2');
    await expect(open({}, 'u_9', 'o_3')).rejects.toMatchObject({
      details: { scope: 'process', limit: 16, actual: 16, setting: 'SLUICE_STREAMS' },
    });
  });

  it('of a user is a quarter of all at most, whatever the setting', async () => {
    await streams.onModuleDestroy();
    streams = new EventStreams(log, { ...ports, settings: { perUser: 100, inAll: 8, unsent: LIMITS } });
    await open();
    await open();
    await expect(open()).rejects.toMatchObject({ details: { scope: 'user', limit: 2, setting: 'SLUICE_STREAMS' } });
  });

  it('does not grow by a stream that could not be opened', async () => {
    const tail = jest.spyOn(log, 'tail').mockRejectedValue(new Error('no broker'));
    for (let n = 0; n < 5; n++) await expect(open()).rejects.toThrow('no broker');
    tail.mockRestore();
    expect(streams.size).toBe(0);
    expect(ended).toEqual([]);
    await open();
  });
});

// docs/reference/limits.md#stream-unsent
describe('what clients do not read', () => {
  /** The checks of some seconds, without their time. */
  const checks = (count: number): readonly boolean[] =>
    Array.from({ length: count }, () => opened.map((stream) => stream.isStalled())).flat();

  it('is in memory once, however many streams show the event, and encoded once for each form', async () => {
    const from = jest.spyOn(Buffer, 'from');
    const all = [
      await openUnread(),
      await openUnread({ form: 'envelope' }),
      await openUnread(),
      await openUnread({}, 'u_2', 'o_2'),
    ];
    const encodings = (): number => from.mock.calls.filter(([text]) => String(text).includes('data: ')).length;
    await publish(emit(1, large(3)));
    expect(encodings()).toBe(2);
    expect(streams.unsentBytes).toBeGreaterThan(6 * MB);
    expect(streams.unsentBytes).toBeLessThan(6.5 * MB);
    // Nobody shows it.
    await publish(emit(2, large(3), { emitter: 'dc_b' }), emit(3, 3, { channel: 'x' }));
    expect(encodings()).toBe(2);
    from.mockRestore();
    expect(ended).toEqual([]);
    for (const { response } of all) response.read();
    await turns();
    expect(streams.unsentBytes).toBe(0);
    expect(all.map(({ response }) => response.data.length)).toEqual([1, 1, 1, 1]);
  });

  it('is cut after 20 checks without progress, when it is more than 1 MB', async () => {
    const { response } = await openUnread();
    await publish(emit(1, 'x'.repeat(900_000)));
    expect(checks(100)).not.toContain(true);
    await publish(emit(2, large(2)));
    expect(checks(STALLED_CHECKS - 1)).not.toContain(true);
    response.readOnce();
    await turns();
    expect(checks(STALLED_CHECKS)).not.toContain(true);
    expect(checks(1)).toEqual([true]);
  });

  it('is cut by the timer', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      const { response } = await openUnread();
      await publish(emit(1, large(3)));
      jest.advanceTimersByTime(11_000);
      expect(ended).toMatchObject([{ why: 'too slow', userId: 'u_1', workspaceId: 'o_1', events: 0 }]);
      expect(response.destroyed).toBe(true);
      expect([streams.size, streams.unsentBytes]).toEqual([0, 0]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('waits while the client reads a little, although an event is far above 1 MB', async () => {
    const { response } = await openUnread();
    await publish(emit(1, large(6)));
    for (let n = 0; n < 120 && streams.unsentBytes > 0; n++) {
      expect(checks(STALLED_CHECKS - 1)).not.toContain(true);
      response.readOnce();
      await turns();
    }
    expect(response.data).toEqual([large(6)]);
    expect(ended).toEqual([]);
  });

  it('does not count against a client while nothing is sent to it', async () => {
    await open();
    await publish(emit(1, large(3)));
    expect(checks(3 * STALLED_CHECKS)).not.toContain(true);
  });

  it('is limited for each user: the stream with the most is cut first, and the others get theirs', async () => {
    const [most, other] = [await openUnread(), await openUnread({ channel: 'x' })];
    const neighbour = await openUnread({ emitterId: 'dc_b' }, 'u_2', 'o_2');
    await publish(emit(1, large(5)), emit(2, large(2), { channel: 'x' }), emit(3, large(3), { emitter: 'dc_b' }));
    expect(ended).toEqual([]);
    await publish(emit(4, large(1), { channel: 'x' }), emit(5, large(1), { channel: 'x' }));
    expect(ended).toMatchObject([{ why: 'too much unsent', channel: '', userId: 'u_1' }]);
    expect([most.response.destroyed, other.response.destroyed]).toEqual([true, false]);
    for (const { response } of [other, neighbour]) response.read();
    await turns();
    expect(other.response.data).toEqual([large(2), large(1), large(1)]);
    expect(neighbour.response.data).toEqual([large(3)]);
  });

  it('is limited for each workspace', async () => {
    const channels = ['a', 'b', 'c', 'd', 'e'];
    for (const channel of channels) await openUnread({ channel }, `u_${channel}`);
    for (const [n, channel] of channels.entries()) await publish(emit(n, `${channel}${large(3)}`, { channel }));
    expect(ended).toHaveLength(2);
    expect(new Set(ended.map(({ why }) => why))).toEqual(new Set(['too much unsent']));
  });

  it('is limited in the process: the user who holds the most loses a stream, not who gets a large event', async () => {
    for (const channel of ['a', 'b', 'c']) await openUnread({ channel }, 'u_1', 'o_1');
    for (const channel of ['d', 'e', 'f']) await openUnread({ channel }, 'u_2', 'o_2');
    for (const [n, channel] of ['a', 'b', 'c', 'd', 'e', 'f'].entries())
      await publish(emit(n, `${channel}${large(2)}`, { channel }));
    expect(ended).toEqual([]);
    const neighbour = await openUnread({ emitterId: 'dc_b' }, 'u_3', 'o_3');
    await publish(emit(9, large(5), { emitter: 'dc_b' }));
    expect(ended.map(({ why }) => why)).toEqual(['too much unsent']);
    neighbour.response.read();
    await turns();
    expect(neighbour.response.data).toEqual([large(5)]);
  });

  it('counts events that wait for a replay, and those that are replayed', async () => {
    const waiting = await open();
    for (let n = 1; n <= 2; n++) await publish(emit(n, `${n}${large(3)}`));
    expect(streams.unsentBytes).toBeGreaterThan(6 * MB);
    await publish(emit(3, `3${large(3)}`));
    expect(ended).toMatchObject([{ why: 'too much unsent' }]);
    const replayed = await openUnread({ channel: 'x' });
    const three = [1, 2, 3].map((n) => event(n, `${n}${large(3)}`));
    await streams.replay(replayed.stream, three);
    expect(ended).toHaveLength(2);
    expect(waiting.stream.isOver && replayed.stream.isOver).toBe(true);
    expect(streams.unsentBytes).toBe(0);
  });

  it('counts the references to many small events', async () => {
    await openUnread();
    const some = (from: number) => Array.from({ length: 1_000 }, (_, n) => emit(from + n, 1));
    for (let n = 0; n < 5; n++) await log.publish(some(1_000 * n));
    await turns();
    expect(streams.unsentBytes).toBeGreaterThan(5_000 * 64);
  });

  it('costs no other stream an event', async () => {
    const well = await open();
    well.stream.release();
    const stuck = await openUnread({}, 'u_2');
    await publish(emit(1, large(7)));
    await publish(emit(2, `2${large(3)}`));
    expect(ended).toMatchObject([{ userId: 'u_2' }]);
    expect(stuck.response.destroyed).toBe(true);
    expect(well.response.data).toEqual([large(7), `2${large(3)}`]);
  });
});

describe('kept events', () => {
  const world = async (retained: number) => {
    const readModels = new InMemoryReadModels();
    const projection = eventSummariesProjection({ ...DEFAULT_EVENT_SETTINGS, retained });
    const onFailure = (error: Error): void => {
      throw error;
    };
    const projector = new StreamProjector({ projection, log, readModels, gatherMs: 1, onFailure });
    return { projector, readModels, kept: new KeptEvents({ readModels, log, topics }) };
  };
  const resume = (lastId: string | undefined): Resume => {
    return { emitterId: 'dc_a', channel: '', lastId, form: 'plain', userId: 'u_1' };
  };
  const framesOf = async (events: AsyncIterable<readonly StreamFrame[]>): Promise<string[]> => {
    const found: string[] = [];
    for await (const some of events) found.push(...some.map(({ frame }) => frame.toString()));
    return found;
  };
  const values = async (events: AsyncIterable<readonly StreamFrame[]>): Promise<unknown[]> =>
    (await framesOf(events)).map((text) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '') as unknown);

  it('are those after an id, oldest first, whole, over several pages', async () => {
    const { projector, kept } = await world(1_000);
    await projector.start();
    const long = 'x'.repeat(3_000);
    await log.publish(Array.from({ length: 250 }, (_, n) => emit(n, [200, 201, 230].includes(n) ? long : n)));
    expect(await kept.caughtUp('dc_a')).toBe(true);
    const expected = Array.from({ length: 239 }, (_, i) => ([200, 201, 230].includes(i + 11) ? long : i + 11));
    expect(await values(kept.after(resume(id(10))))).toEqual(expected);
    // An id that is not kept, and none.
    expect(await values(kept.after(resume(id(10_000))))).toEqual([]);
    expect(await values(kept.after(resume('1600000000000-0')))).toHaveLength(250);
    expect(await values(kept.after(resume(undefined)))).toHaveLength(250);
    await projector.stop();
  });

  it('end at the newest that there was at the begin, while others come', async () => {
    const { projector, kept } = await world(1_000);
    await projector.start();
    await log.publish([emit(1, 1), emit(2, 2)]);
    await kept.caughtUp('dc_a');
    const found: number[] = [];
    for await (const some of kept.after(resume(undefined))) {
      found.push(some.length);
      await log.publish([emit(10 + found.length, 0)]);
      await kept.caughtUp('dc_a');
    }
    expect(found).toEqual([2]);
    await projector.stop();
  });

  it('are read and encoded once for all streams that replay a large one', async () => {
    const { projector, kept, readModels } = await world(100);
    await projector.start();
    await log.publish([emit(1, large(1))]);
    await kept.caughtUp('dc_a');
    const text = jest.spyOn(readModels, 'text');
    const replays = Array.from({ length: 20 }, () => kept.after(resume(undefined)));
    const firsts = await Promise.all(replays.map((each) => each.next()));
    const frames = new Set(firsts.map(({ value }) => (value as readonly StreamFrame[])[0]?.frame));
    expect([frames.size, text.mock.calls.length]).toEqual([1, 1]);
    for (const each of replays) await each.return(undefined);
    expect(await values(kept.after(resume(undefined)))).toHaveLength(1);
    expect(text).toHaveBeenCalledTimes(2);
    await projector.stop();
  });

  // docs/reference/rest-api.md#stream-test-events
  it('are marked as a test when they triggered nothing', async () => {
    const { projector, kept } = await world(100);
    await projector.start();
    const headers = { test: '1', notrigger: '1' };
    await log.publish([
      emit(1, 1, { headers }),
      emit(2, large(1), { headers }),
      emit(3, 3, { headers: { test: '1' } }),
    ]);
    await kept.caughtUp('dc_a');
    for (const form of ['plain', 'envelope', 'named'] as const) {
      const frames = await framesOf(kept.after({ ...resume(undefined), form }));
      expect(frames.map((frame) => /^event: test$/m.test(frame))).toEqual([true, true, false]);
    }
    await projector.stop();
  });

  it('are waited for until the read model has what the log holds', async () => {
    const { projector, kept } = await world(100);
    await log.publish([emit(1, 1)]);
    const waiting = kept.caughtUp('dc_a');
    await projector.start();
    expect(await waiting).toBe(true);
    expect(await values(kept.after(resume(undefined)))).toEqual([1]);
    await projector.stop();
  });

  it('are waited for where the lane leaves offsets out', async () => {
    const { options } = await world(100);
    let committed = 10;
    const sparse = new Proxy(log, {
      get: (target, name) => {
        if (name === 'endOf') return async () => 101;
        if (name === 'lag') return async () => ({ 'emits.dc_a': committed < 100 ? 1 : 0 });
        if (name === 'committed') return async () => ({ 'emits.dc_a': committed });
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const waiting = caughtUp({ ...options, log: sparse }, 'dc_a').then(() => committed);
    await pause(100);
    committed = 50;
    await pause(100);
    committed = 100;
    expect(await waiting).toBe(100);
  });

  it('of an emitter without a topic are none', async () => {
    const { kept } = await world(100);
    expect(await kept.caughtUp('dc_none')).toBe(true);
  });
});
