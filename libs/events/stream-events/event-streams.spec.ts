import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { emit, id } from '../testing/emit-record.js';
import { kept, large, StreamWorld, turns } from '../testing/stream-world.js';
import { type StreamForm } from './live-event.js';

let world: StreamWorld;
beforeEach(async () => {
  world = new StreamWorld();
  await world.start();
});
afterEach(() => world.streams.onModuleDestroy());

const until = async (done: () => boolean): Promise<void> => {
  for (const end = Date.now() + 10_000; !done(); await new Promise((resolve) => setTimeout(resolve, 5)))
    if (Date.now() > end) throw new Error(`still waiting for ${done.toString()}`);
};

describe('open streams', () => {
  it('get the events of their emitter and channel, and no others', async () => {
    const [one, other, named] = [
      await world.open(),
      await world.open({ emitterId: 'dc_b' }, 'u_2'),
      await world.open({ channel: 'x' }),
    ];
    for (const { stream } of [one, other, named]) stream.release();
    await world.publish(emit(1, 1), emit(2, 2, { channel: 'x' }), emit(3, 3, { emitter: 'dc_b' }), emit(4, 4));
    expect(one.response.data).toEqual([1, 4]);
    expect(other.response.data).toEqual([3]);
    expect(named.response.data).toEqual([2]);
  });

  // docs/reference/rest-api.md#stream-workflows
  it('of a workflow have the messages of its steps, each with its channel, and no events', async () => {
    const { stream, response } = await world.open({ emitterId: 'p_a', channel: '$sse', form: 'message' });
    stream.release();
    const of = (n: number, payload: unknown, channel: string) => emit(n, payload, { emitter: 'p_a', channel });
    const sent = emit(2, 0, { emitter: 'p_a', channel: '$sse', headers: { notrigger: '1' } });
    const message = { ...sent, value: '{"channel":"news","payload":{\n"a":1}}' };
    await world.publish(of(1, 1, ''), message, of(3, 3, '$errors'), of(4, 4, '$logs'));
    expect(response.text.slice(response.text.indexOf('id:'))).toBe(`id: ${id(2)}\nevent: news\ndata: {"a":1}\n\n`);
  });

  // docs/reference/rest-api.md#stream-test-events
  it.each<StreamForm>(['plain', 'envelope'])(
    'mark what triggers nothing as a test, and no sample event: %s',
    async (form) => {
      const { stream, response } = await world.open({ form });
      stream.release();
      const headers = { test: '1', notrigger: '1' };
      await world.publish(emit(1, 1, { headers }), emit(2, 2, { headers: { test: '1' } }), emit(3, 3));
      const names = response.text.split('\n\n').filter((block) => block.startsWith('id:'));
      expect(names.map((block) => /^event: (.*)$/m.exec(block)?.[1])).toEqual(['test', undefined, undefined]);
    },
  );

  it('are sent neither deletions nor events that wait', async () => {
    const { stream, response } = await world.open();
    stream.release();
    await world.publish(...['delete', 'delay', 'due'].map((kind, n) => emit(n, n, { headers: { kind } })));
    expect(response.data).toEqual([]);
  });

  // docs/reference/rest-api.md#half-closed
  it('send comments at once to a client that closed its side, to find out whether it is gone', async () => {
    const [{ stream, response }, other] = [await world.open(), await world.open()];
    for (const opened of [stream, other.stream]) opened.release();
    const comments = (of: typeof response): number => of.text.match(/^:$/gm)?.length ?? 0;
    response.socket.emit('end');
    await until(() => comments(response) === 2);
    // The client still reads, so the stream continues.
    await world.publish(emit(1, 1));
    expect([response.data, comments(other.response)]).toEqual([[1], 0]);
    expect(world.ended).toEqual([]);
  });

  it('keep a line break within the JSON on one line', async () => {
    const { stream, response } = await world.open();
    stream.release();
    await world.publish({ ...emit(1, 0), value: '{\n"a":\r\n1}' });
    expect(response.written.at(-1)?.toString()).toBe(`id: ${id(1)}\ndata: { "a": 1}\n\n`);
  });

  it('wait with live events until what is kept was replayed, and send none twice', async () => {
    const { stream, response } = await world.open();
    await world.publish(emit(3, 3), emit(4, 4));
    await world.streams.replay(stream, [kept(1), kept(3)]);
    await turns();
    expect(response.data).toEqual([1, 3]);
    stream.release();
    await world.publish(emit(4, 4), emit(5, 5));
    expect(response.data).toEqual([1, 3, 4, 5]);
  });

  it('wait for the client while events are replayed', async () => {
    const { stream, response } = await world.open();
    response.reads = false;
    let sent = false;
    const replay = world.streams.replay(stream, [kept(1, large(1))]).then(() => (sent = true));
    await turns();
    expect(sent).toBe(false);
    response.read();
    await replay;
    expect(response.data).toEqual([large(1)]);
  });

  it.each([
    ['access lost', () => (world.allowed = false)],
    ['emitter deleted', () => (world.exists = false)],
    ['shutting down', () => (world.stopping = true)],
  ])('end by themselves: %s', async (why, change) => {
    const { stream } = await world.open();
    stream.release();
    change();
    await until(() => world.ended.length > 0);
    expect(world.ended).toMatchObject([{ why, emitterId: 'dc_a' }]);
  });

  // docs/reference/rest-api.md#stream-keep-alive
  it('get a comment at once, and then every 15 s, unless bytes wait for the client', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      const { stream, response } = await world.open();
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
      await world.publish(emit(1, 1));
      await pass(30_000);
      expect(comments()).toBe(3);
    } finally {
      jest.useRealTimers();
    }
  });
});
