import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pause } from '#libs/async/pause.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { DEFAULT_EVENT_SETTINGS } from '../ports.js';
import { eventSummariesProjection } from '../read-models/event-summaries.projection.js';
import { emit, id, topics } from '../testing/emit-record.js';
import { large } from '../testing/stream-world.js';
import { type StreamFrame } from '#libs/event-streams/index.js';
import { KeptEvents, type Resume } from './kept-events.js';

let log: InMemoryStreamLog;
beforeEach(async () => {
  log = new InMemoryStreamLog();
  await log.createTopic(topics.emits('dc_a'), {});
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
    return { emitterId: 'dc_a', channel: '', lastId, form: 'plain', userId: 'u_1', isOver: () => false };
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

  it('are not read for streams that ended while they waited for their turn', async () => {
    const { projector, kept, readModels } = await world(100);
    await projector.start();
    await log.publish([emit(1, large(1))]);
    await kept.caughtUp('dc_a');
    const [text, page] = [jest.spyOn(readModels, 'text'), jest.spyOn(readModels, 'page')];
    let isOver = false;
    const replays = Array.from({ length: 100 }, () => kept.after({ ...resume(undefined), isOver: () => isOver }));
    const all = Promise.all(replays.map((each) => each.next()));
    isOver = true;
    expect((await all).every(({ done }) => done === true)).toBe(true);
    // Only the reads that had begun are made.
    expect(page.mock.calls.length).toBeLessThanOrEqual(4);
    expect(text).not.toHaveBeenCalled();
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
    for (const form of ['plain', 'envelope'] as const) {
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
    const kept = new KeptEvents({ readModels: new InMemoryReadModels(), log: sparse, topics });
    const waiting = kept.caughtUp('dc_a').then(() => committed);
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
