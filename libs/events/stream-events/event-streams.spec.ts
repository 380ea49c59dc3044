import { EventEmitter } from 'node:events';
import { type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pause } from '#libs/async/pause.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { DEFAULT_EVENT_SETTINGS, type StreamPorts } from '../ports.js';
import { eventSummariesProjection } from '../read-models/event-summaries.projection.js';
import { emit, id, topics } from '../testing/emit-record.js';
import { type EndedStream, type EventStream, MAX_WAITING_BYTES, type StreamOptions } from './event-stream.js';
import { EventStreams } from './event-streams.js';
import { caughtUp, keptEventsAfter } from './kept-events.js';
import { liveEvent, type LiveEvent } from './live-event.js';

/** A response whose client reads only when told. */
class FakeResponse extends EventEmitter {
  written: string[] = [];
  writableLength = 0;
  destroyed = false;
  reads = true;
  get writableNeedDrain(): boolean {
    return this.writableLength > 16_384;
  }
  writeHead(): this {
    return this;
  }
  write(text: string): boolean {
    this.written.push(text);
    if (!this.reads) this.writableLength += text.length;
    return !this.writableNeedDrain;
  }
  read(): void {
    this.reads = true;
    this.writableLength = 0;
    this.emit('drain');
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
    return [...this.written.join('').matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as unknown);
  }
}

const OPTIONS: StreamOptions = { emitterId: 'dc_a', channel: '', envelope: false, named: false };

let log: InMemoryStreamLog;
let streams: EventStreams;
let ended: EndedStream[];
let allowed: boolean;
let exists: boolean;
let stopping: boolean;

beforeEach(async () => {
  log = new InMemoryStreamLog();
  ended = [];
  [allowed, exists, stopping] = [true, true, false];
  for (const emitter of ['dc_a', 'dc_b', 'p_a']) await log.createTopic(topics.emits(emitter), {});
  const ports: StreamPorts = {
    settings: { perKey: 2, inAll: 3 },
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
  apiKeyId = 'key_1',
): Promise<{ stream: EventStream; response: FakeResponse }> => {
  const response = new FakeResponse();
  const reader = { apiKeyId, workspaceId: 'o_1' };
  const given = { ...OPTIONS, ...options };
  const stream = await streams.open(given, reader, response as unknown as ServerResponse, 'keep');
  stream.open('keep');
  return { stream, response };
};
const event = (n: number, payload: unknown = n): LiveEvent => {
  const emitted = { emitterId: 'dc_a', channel: '', eventId: id(n), emitId: `emit-${n}` };
  const made = liveEvent(emitted, JSON.stringify(payload));
  if (!made) throw new Error('no event');
  return made;
};
const until = async (done: () => boolean): Promise<void> => {
  for (const end = Date.now() + 10_000; !done(); await new Promise((resolve) => setTimeout(resolve, 5)))
    if (Date.now() > end) throw new Error(`still waiting for ${done.toString()}`);
};

describe('open streams', () => {
  it('get the events of their emitter and channel, and no others', async () => {
    const [one, other, named] = [
      await open(),
      await open({ emitterId: 'dc_b' }, 'key_2'),
      await open({ channel: 'x' }),
    ];
    for (const { stream } of [one, other, named]) stream.release();
    await log.publish([emit(1, 1), emit(2, 2, { channel: 'x' }), emit(3, 3, { emitter: 'dc_b' }), emit(4, 4)]);
    expect(one.response.data).toEqual([1, 4]);
    expect(other.response.data).toEqual([3]);
    expect(named.response.data).toEqual([2]);
  });

  // docs/reference/rest-api.md#stream-workflows
  it('of a workflow name the channel, and leave out those of the platform', async () => {
    const { stream, response } = await open({ emitterId: 'p_a', channel: undefined, named: true });
    stream.release();
    const of = (n: number, channel: string) => emit(n, n, { emitter: 'p_a', channel });
    await log.publish([of(1, ''), of(2, 'a\nb'), of(3, '$errors'), of(4, '$logs')]);
    expect(response.written.slice(1).join('')).toBe(
      `id: ${id(1)}\nevent: \ndata: 1\n\nid: ${id(2)}\nevent: a b\ndata: 2\n\n`,
    );
  });

  it('are sent neither deletions nor events that wait', async () => {
    const { stream, response } = await open();
    stream.release();
    await log.publish(['delete', 'delay', 'due'].map((kind, n) => emit(n, n, { headers: { kind } })));
    expect(response.data).toEqual([]);
  });

  it('keep a line break within the JSON on one line', async () => {
    const { stream, response } = await open();
    stream.release();
    await log.publish([{ ...emit(1, 0), value: '{\n"a":\r\n1}' }]);
    expect(response.written.at(-1)).toBe(`id: ${id(1)}\ndata: { "a": 1}\n\n`);
  });

  it('are limited for each key and in all, and a stream that ended makes room', async () => {
    const first = await open();
    await open();
    await expect(open()).rejects.toMatchObject({
      code: 'stream.too_many',
      details: { limit: 2, actual: 2, setting: 'SLUICE_STREAMS_PER_KEY' },
    });
    await open({}, 'key_2');
    await expect(open({}, 'key_3')).rejects.toMatchObject({ details: { limit: 3, setting: 'SLUICE_STREAMS' } });
    first.response.emit('close');
    expect(streams.size).toBe(2);
    await open({}, 'key_3');
  });

  it('wait with live events until what is kept was replayed, and send none twice', async () => {
    const { stream, response } = await open();
    await log.publish([emit(3, 3), emit(4, 4)]);
    await stream.replay(event(1));
    await stream.replay(event(3));
    expect(response.data).toEqual([1, 3]);
    stream.release();
    await log.publish([emit(4, 4), emit(5, 5)]);
    expect(response.data).toEqual([1, 3, 4, 5]);
  });

  it('wait for the client while events are replayed', async () => {
    const { stream, response } = await open();
    response.reads = false;
    let sent = false;
    const replay = stream.replay(event(1, 'x'.repeat(100_000))).then(() => (sent = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toBe(false);
    response.read();
    await replay;
  });

  // docs/reference/rest-api.md#stream-end
  it('end when the client reads too slowly, but not for one large event', async () => {
    const { stream, response } = await open();
    stream.release();
    response.reads = false;
    response.writableLength = 0;
    stream.live(event(1, 'x'.repeat(3 * MAX_WAITING_BYTES)));
    expect(ended).toEqual([]);
    stream.live(event(2));
    expect(ended).toMatchObject([{ why: 'too slow', events: 1 }]);
    expect(response.destroyed).toBe(true);
    expect(streams.size).toBe(0);
  });

  it('end when too much comes before what is kept was replayed', async () => {
    const { stream } = await open();
    for (let n = 1; n <= 3; n++) stream.live(event(n, 'x'.repeat(500_000)));
    expect(ended).toMatchObject([{ why: 'too slow' }]);
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
  it('get a comment at once, and then every 15 s', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    try {
      const { stream, response } = await open();
      stream.release();
      const comments = (): number => response.written.join('').match(/^:keep$/gm)?.length ?? 0;
      expect(comments()).toBe(1);
      jest.advanceTimersByTime(14_900);
      expect(comments()).toBe(1);
      jest.advanceTimersByTime(100);
      expect(comments()).toBe(2);
      jest.advanceTimersByTime(30_000);
      expect(comments()).toBe(4);
    } finally {
      jest.useRealTimers();
    }
  });

  it('are told of each event once, whoever else failed', async () => {
    const { stream, response } = await open();
    stream.release();
    const slow = await open({}, 'key_2');
    slow.stream.release();
    slow.response.reads = false;
    slow.response.writableLength = MAX_WAITING_BYTES;
    await log.publish([emit(1, 1)]);
    expect(response.data).toEqual([1]);
    expect(ended).toHaveLength(1);
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
    return { projector, options: { readModels, log, topics, retained } };
  };
  const values = async (events: AsyncIterable<LiveEvent>): Promise<unknown[]> => {
    const found: unknown[] = [];
    for await (const { payload } of events) found.push(JSON.parse(payload));
    return found;
  };

  it('are those after an id, oldest first, whole, over several pages', async () => {
    const { projector, options } = await world(1_000);
    await projector.start();
    const large = 'x'.repeat(3_000);
    await log.publish(Array.from({ length: 250 }, (_, n) => emit(n, n === 200 ? large : n)));
    expect(await caughtUp(options, 'dc_a')).toBe(true);
    const after = await values(keptEventsAfter(options, 'dc_a', '', id(10)));
    expect(after).toEqual(Array.from({ length: 239 }, (_, i) => (i + 11 === 200 ? large : i + 11)));
    expect(await values(keptEventsAfter(options, 'dc_a', '', id(10_000)))).toEqual([]);
    expect(await values(keptEventsAfter(options, 'dc_a', '', undefined))).toHaveLength(250);
    await projector.stop();
  });

  it('are waited for until the read model has what the log holds', async () => {
    const { projector, options } = await world(100);
    await log.publish([emit(1, 1)]);
    const waiting = caughtUp(options, 'dc_a');
    await projector.start();
    expect(await waiting).toBe(true);
    expect(await values(keptEventsAfter(options, 'dc_a', '', undefined))).toEqual([1]);
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
    const { options } = await world(100);
    expect(await caughtUp(options, 'dc_none')).toBe(true);
  });
});
