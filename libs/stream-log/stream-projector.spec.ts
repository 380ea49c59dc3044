import { afterEach, describe, expect, it } from '@jest/globals';
import { type ApplyBatch } from '#libs/kernel/read-model-store.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { drained } from './testing/drained.js';
import { type Line, lines, put, record } from './testing/lines.js';
import { InMemoryStreamLog } from './testing/in-memory-stream-log.js';
import { StreamProjector } from './stream-projector.js';
import { foldRecords, GroupSizes, type StreamProjection } from './stream-projection.js';

const running: StreamProjector[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((projector) => projector.stop()));
});

const world = async (...topics: string[]) => {
  const log = new InMemoryStreamLog();
  const readModels = new InMemoryReadModels();
  const failures: Error[] = [];
  for (const topic of topics) await log.createTopic(`lines.${topic}`, {});
  const make = (gatherMs = 1): StreamProjector =>
    new StreamProjector({
      projection: lines,
      log,
      readModels,
      gatherMs,
      onFailure: (error) => void failures.push(error),
    });
  const start = async (gatherMs?: number): Promise<StreamProjector> => {
    const projector = make(gatherMs);
    running.push(projector);
    await projector.start();
    return projector;
  };
  const shown = async (list: string): Promise<string[]> => {
    const { docs } = await readModels.page<Line>(lines.schema, { where: { list }, limit: 100 });
    return docs.map(({ sort }) => sort);
  };
  return { log, readModels, failures, make, start, shown };
};

/** Collects what is written to the read model from now on. */
const batchesOf = (readModels: InMemoryReadModels): readonly ApplyBatch[] => {
  const batches: ApplyBatch[] = [];
  const apply = readModels.apply.bind(readModels);
  readModels.apply = async (batch) => {
    batches.push(batch);
    await apply(batch);
  };
  return batches;
};

describe('bounds of wider groups', () => {
  interface Sized extends Line {
    readonly all: string;
    readonly size: number;
  }
  /** Puts each record into a list of its own. */
  const wide: StreamProjection<Sized> = {
    name: 'specs.wide.v1',
    prefix: 'wide.',
    schema: { name: 'specs.wide.v1', indexed: ['list', 'all'], sort: 'sort', bytes: 'size' },
    keep: { by: 'list', newest: 5 },
    bounds: [{ by: 'all', newest: 50, bytes: 4_000 }],
    interpret: ({ key, offset, value }) => ({
      kind: 'put',
      docs: [
        {
          id: `${key}/${offset}`,
          list: `${key}/${offset}`,
          all: key,
          sort: String(offset).padStart(6, '0'),
          text: '',
          size: value.length,
        },
      ],
    }),
    ofKey: (key) => [{ all: key }],
  };

  const heldOf = async (
    sizeOfRecord: (n: number) => number,
    projection: StreamProjection<Sized>,
  ): Promise<{ docs: number; bytes: number; mostDocs: number; mostBytes: number; newest: string }> => {
    const readModels = new InMemoryReadModels();
    await readModels.register(projection.schema);
    const sizes = new GroupSizes(projection);
    let [held, most]: [readonly Sized[], { docs: number; bytes: number }] = [[], { docs: 0, bytes: 0 }];
    const bytesOf = (docs: readonly Sized[]): number => docs.reduce((sum, { size }) => sum + size, 0);
    for (let n = 0; n < 600; n += 10) {
      const records = Array.from({ length: 10 }, (_, i) => ({
        topic: 'wide.a',
        lane: 'wide.a',
        offset: n + i,
        key: 'a',
        headers: {},
        value: 'x'.repeat(sizeOfRecord(n + i)),
        timestamp: 0,
        size: 1,
      }));
      const { writes } = foldRecords(projection, records, sizes);
      const expected = n === 0 ? null : String(n);
      await readModels.apply({ schema: projection.schema, generation: 1, expected, next: String(n + 10), writes });
      held = (await readModels.page<Sized>(projection.schema, { where: {}, limit: 1_000 })).docs;
      most = { docs: Math.max(most.docs, held.length), bytes: Math.max(most.bytes, bytesOf(held)) };
    }
    return {
      docs: held.length,
      bytes: bytesOf(held),
      mostDocs: most.docs,
      mostBytes: most.bytes,
      newest: held[0]?.sort ?? '',
    };
  };

  it('limit the number and bytes of documents over many lists, and remove the oldest', async () => {
    const small = await heldOf(() => 1, wide);
    expect(small.mostDocs).toBeLessThanOrEqual(50 + 25 + 10);
    expect(small.newest).toBe('000599');
    const large = await heldOf((n) => (n % 7) * 50, wide);
    expect(large.mostBytes).toBeLessThanOrEqual(4_000 * 1.1 + 10 * 300);
    expect(large.newest).toBe('000599');
  });

  it('control: without bounds, every list keeps its documents', async () => {
    const { bounds, ...unbounded } = wide;
    expect(bounds).toHaveLength(1);
    expect((await heldOf(() => 100, unbounded)).docs).toBe(600);
  });
});

describe('StreamProjector', () => {
  it('applies all lanes and reports when a record is applied', async () => {
    const { log, start, shown } = await world('a', 'b');
    const projector = await start();
    await log.publish([...put('a', '1', '2'), ...put('b', '1')]);
    expect(await projector.waitApplied('lines.a', 1, 5_000)).toBe(true);
    expect(await projector.waitApplied('lines.b', 0, 5_000)).toBe(true);
    expect(await shown('a')).toEqual(['2', '1']);
    expect(await shown('b')).toEqual(['1']);
  });

  it('resolves to false when a record is not applied in time', async () => {
    const { start } = await world('a');
    const projector = await start();
    expect(await projector.waitApplied('lines.a', 0, 1)).toBe(false);
  });

  it('writes many lanes in one batch', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `l${i}`);
    const { log, readModels, start } = await world(...names);
    await log.publish(names.flatMap((name) => put(name, '1', '2')));
    const batches = batchesOf(readModels);
    await drained(await start());
    expect(batches.length).toBeLessThan(5);
  });

  it('applies a burst of one lane in a few writes, so that it keeps up with a source that never rests', async () => {
    const { log, readModels, start } = await world('a');
    await log.publish(Array.from({ length: 4_000 }, (_, n) => put('a', String(n).padStart(4, '0'))).flat());
    const batches = batchesOf(readModels);
    await drained(await start());
    expect(batches.length).toBeLessThanOrEqual(3);
  });

  it('writes together what a lane brings while it gathers, and acknowledges it afterwards', async () => {
    const { log, readModels, start, shown } = await world('a');
    const batches = batchesOf(readModels);
    const projector = await start(200);
    for (const sort of ['1', '2', '3']) {
      await log.publish(put('a', sort));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect([batches.length, projector.backlog()]).toEqual([0, 3]);
    await drained(projector);
    expect(batches).toHaveLength(1);
    expect(await shown('a')).toEqual(['3', '2', '1']);
  });

  it('splits the large records of many lanes into several writes', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `l${i}`);
    const { log, readModels, start, shown } = await world(...names);
    await log.publish(names.map((name) => record(name, `put 1 ${'x'.repeat(1 << 20)}`)));
    const batches = batchesOf(readModels);
    await drained(await start());
    expect(batches.length).toBeGreaterThanOrEqual(3);
    for (const name of names) expect(await shown(name)).toEqual(['1']);
  });

  it('keeps only the newest documents over many batches', async () => {
    const { log, readModels, start } = await world('a');
    const projector = await start();
    for (let i = 100; i < 300; i++) await log.publish(put('a', String(i)));
    await drained(projector);
    const { total } = await readModels.page(lines.schema, { where: { list: 'a' }, limit: 1 });
    expect(total).toBeGreaterThanOrEqual(5);
    expect(total).toBeLessThanOrEqual(30);
  });

  it('skips repeated records after a crash between apply and ack, and shows no removed documents', async () => {
    const { log, readModels, start, shown } = await world('a');
    await log.publish([...put('a', '1', '2', '3'), record('a', 'remove 1 2'), ...put('a', '4')]);
    const first = await start();
    await drained(first);
    await first.stop();
    // The group's commits are lost. A projector that reads one record at a time shows each step.
    const states: string[][] = [];
    const crashed = new InMemoryStreamLog();
    await crashed.createTopic('lines.a', {});
    const projector = new StreamProjector({
      projection: lines,
      log: crashed,
      readModels,
      gatherMs: 1,
      maxBatch: 1,
      onFailure: (error) => void states.push([error.message]),
    });
    running.push(projector);
    const apply = readModels.apply.bind(readModels);
    readModels.apply = async (batch) => {
      await apply(batch);
      states.push(await shown('a'));
    };
    await projector.start();
    await crashed.publish(
      [...(await log.read('lines.a', -1, 100))].map(({ topic, key, headers, value }) => ({
        topic,
        key,
        headers,
        value,
      })),
    );
    await crashed.publish(put('a', '5'));
    await drained(projector);
    expect(states).toEqual([['5', '4', '3']]);
  });

  it('acknowledges nothing while a write fails, and writes the records later', async () => {
    const { log, readModels, failures, start, shown } = await world('a');
    const apply = readModels.apply.bind(readModels);
    let down = true;
    readModels.apply = async (batch) => (down ? Promise.reject(new Error('disk full')) : apply(batch));
    const projector = await start();
    await log.publish(put('a', '1', '2'));
    expect(await projector.waitApplied('lines.a', 1, 30)).toBe(false);
    down = false;
    expect(await projector.waitApplied('lines.a', 1, 5_000)).toBe(true);
    expect(await shown('a')).toEqual(['2', '1']);
    expect(failures).toEqual([]);
  });

  it('stops at a record that it cannot apply, and reports its position', async () => {
    const { log, failures, start } = await world('a');
    const projector = await start();
    await log.publish([...put('a', '1'), record('a', 'poison')]);
    expect(await projector.waitApplied('lines.a', 1, 30)).toBe(false);
    expect(failures).toHaveLength(1);
    expect(failures[0]?.message).toContain(
      'specs.lines.v1 cannot apply the record at offset 1 of lines.a: Error: cannot be read',
    );
    expect(projector.status().failure).toBe(failures[0]?.message);
  });

  it('continues at its position after a restart', async () => {
    const { log, start, shown } = await world('a');
    const first = await start();
    await log.publish(put('a', '1'));
    await drained(first);
    await first.stop();
    await log.publish(put('a', '2'));
    const second = await start();
    expect(await second.waitApplied('lines.a', 0, 5_000)).toBe(true);
    expect(await second.waitApplied('lines.a', 1, 5_000)).toBe(true);
    expect(await shown('a')).toEqual(['2', '1']);
  });

  it('forgets a key, and ignores its records in flight', async () => {
    const { log, start, shown } = await world('a', 'b');
    const projector = await start();
    await log.publish([...put('a', '1'), ...put('b', '1')]);
    await drained(projector);
    await projector.forget('a', ['lines.a']);
    await projector.forget('a', ['lines.a']);
    await log.publish([...put('a', '2'), ...put('b', '2')]);
    await projector.waitApplied('lines.b', 1, 5_000);
    expect(await shown('a')).toEqual([]);
    expect(await shown('b')).toEqual(['2', '1']);
  });

  it('skips the records of a deleted topic', async () => {
    const { log, start, shown } = await world('a');
    await log.publish(put('a', '1'));
    const projector = await start();
    await log.deleteTopic('lines.a');
    await drained(projector);
    expect(await shown('a')).toEqual([]);
  });

  describe('rebuild', () => {
    it('builds the same documents from zero without being started, in a new generation', async () => {
      const { log, readModels, make, shown } = await world('a', 'b');
      await log.publish([...put('a', '1', '2', '3'), record('a', 'remove 1 2'), ...put('b', '1')]);
      const progress: number[] = [];
      expect(await make().rebuild((records) => progress.push(records))).toBe(5);
      expect(progress.at(-1)).toBe(5);
      expect((await readModels.register(lines.schema)).active).toBe(2);
      expect(await shown('a')).toEqual(['3']);
      expect(await shown('b')).toEqual(['1']);
    });

    it('loses and repeats nothing while it runs, and continues in the new generation', async () => {
      const { log, readModels, failures, start, shown } = await world('a', 'b');
      const projector = await start();
      await log.publish([...put('a', '1'), ...put('b', '1')]);
      await drained(projector);
      const rebuilding = projector.rebuild();
      await log.publish([...put('a', '2'), record('b', 'remove 1 1')]);
      await rebuilding;
      await log.publish(put('a', '3'));
      await drained(projector);
      expect(await projector.waitApplied('lines.a', 2, 5_000)).toBe(true);
      expect((await readModels.register(lines.schema)).active).toBe(2);
      expect([await shown('a'), await shown('b')]).toEqual([['3', '2', '1'], []]);
      expect(failures).toEqual([]);
    });
  });
});
