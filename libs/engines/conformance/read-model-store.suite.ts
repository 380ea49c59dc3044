import { expect, it } from '@jest/globals';
import {
  CheckpointConflict,
  type CollectionSchema,
  type Doc,
  type ReadModelStore,
  type ReadModelWrite,
} from '#libs/kernel/read-model-store.js';
import { type MakeHarness, type Part } from './harness.js';
import { fill, ids, item, listed, put, schema } from './read-model-items.js';
import { pagePart } from './read-model-store-pages.suite.js';
import { scanPart } from './read-model-store-scan.suite.js';
import { runParts } from './run-parts.js';

export const READ_MODEL_STORE_PARTS = [
  'apply',
  'checkpoint',
  'get',
  'page',
  'scan',
  'delete_range',
  'trim',
  'beside',
  'rebuild',
  'restart',
] as const;

export const describeReadModelStore = (name: string, make: MakeHarness<ReadModelStore>): void =>
  runParts(`ReadModelStore: ${name}`, READ_MODEL_STORE_PARTS, parts, make);

const parts: Record<(typeof READ_MODEL_STORE_PARTS)[number], Part<ReadModelStore>> = {
  apply: (store) => {
    it('applies the writes of a batch in order', async () => {
      await fill(store(), [
        ...put(item('a', 1), item('b', 2), item('c', 3)),
        { op: 'delete', id: 'a' },
        { op: 'put', doc: { ...item('b', 9), extra: { deep: ['ü', null, 1.5] } } as Doc },
        { op: 'delete', id: 'missing' },
      ]);
      expect(await listed(store())).toEqual(['b', 'c']);
      expect(await store().get(schema, 'b')).toEqual({ ...item('b', 9), extra: { deep: ['ü', null, 1.5] } });
    });

    it('moves a document between lists when an indexed field changes', async () => {
      await fill(store(), put(item('a', 1, 'o1'), item('b', 2, 'o1')));
      await store().apply({ schema, generation: 1, expected: '1', next: '2', writes: put(item('a', 1, 'o2')) });
      expect(await listed(store(), { owner: 'o1' })).toEqual(['b']);
      expect(await listed(store(), { owner: 'o2' })).toEqual(['a']);
    });

    it('keeps collections apart', async () => {
      const other = { ...schema, name: 'items.other.v1' };
      await fill(store(), put(item('a', 1)));
      await store().register(other);
      expect(await store().get(other, 'a')).toBeUndefined();
    });
  },

  checkpoint: (store, harness) => {
    it('is null at first, then the last one applied', async () => {
      expect(await store().register(schema)).toEqual({ active: 1, checkpoint: null });
      await fill(store(), put(item('a', 1)));
      expect(await store().register(schema)).toEqual({ active: 1, checkpoint: '1' });
    });

    it('stays null while the writes of its batches hold how far the projection is', async () => {
      await store().register(schema);
      for (const id of ['a', 'b']) {
        await store().apply({ schema, generation: 1, expected: null, next: null, writes: put(item(id, 1)) });
      }
      expect(await listed(store())).toEqual(['b', 'a']);
      expect(await store().register(schema)).toEqual({ active: 1, checkpoint: null });
    });

    it('is returned for many collections at once, of their active generations', async () => {
      const other = { ...schema, name: 'items.other.v1' };
      await fill(store(), put(item('a', 1)));
      const unknown = { ...schema, name: 'items.none.v1' };
      expect(await store().checkpoints([other, schema, unknown])).toEqual([null, '1', null]);
      await store().register(other);
      const generation = await store().beginGeneration(schema);
      await store().apply({ schema, generation, expected: null, next: '7', writes: [] });
      expect(await store().checkpoints([other, schema])).toEqual([null, '1']);
      await store().activateGeneration(schema, generation);
      await store().apply({ schema: other, generation: 1, expected: null, next: '3', writes: [] });
      expect(await store().checkpoints([schema, other, schema])).toEqual(['7', '3', '7']);
      expect(await store().checkpoints([])).toEqual([]);
    });

    it('of another owner stops this one without a change', async () => {
      await fill(store(), put(item('a', 1)));
      await store().apply({ schema, generation: 1, expected: '1', next: '2', writes: put(item('b', 2)) });
      const second = store().apply({
        schema,
        generation: 1,
        expected: '1',
        next: '2',
        writes: [{ op: 'delete', id: 'a' }, ...put(item('x', 3))],
      });
      const error = await second.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(CheckpointConflict);
      expect(error).toMatchObject({ collection: schema.name, expected: '1', actual: '2' });
      await harness().flush();
      expect(await listed(store())).toEqual(['b', 'a']);
    });

    it('accepts one of two owners that apply at once', async () => {
      await store().register(schema);
      const results = await Promise.allSettled(
        ['x', 'y'].map((id) =>
          store().apply({ schema, generation: 1, expected: null, next: id, writes: put(item(id, 1)) }),
        ),
      );
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const { checkpoint } = await store().register(schema);
      expect(await listed(store())).toEqual([checkpoint]);
    });

    it('takes a chain of batches sent without waiting', async () => {
      await store().register(schema);
      await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          store().apply({
            schema,
            generation: 1,
            expected: i === 0 ? null : String(i),
            next: String(i + 1),
            writes: put(item(`d${i}`, i)),
          }),
        ),
      );
      expect(await store().register(schema)).toEqual({ active: 1, checkpoint: '50' });
      expect(await listed(store())).toHaveLength(50);
    });
  },

  get: (store) => {
    it('returns one, or undefined', async () => {
      await fill(store(), put(item('a', 1)));
      expect(await store().get(schema, 'a')).toEqual(item('a', 1));
      expect(await store().get(schema, 'b')).toBeUndefined();
    });

    it('returns many in the order asked for', async () => {
      await fill(store(), put(item('a', 1), item('b', 2), item('c', 3)));
      expect(ids(await store().getMany(schema, ['c', 'none', 'a', 'c']))).toEqual(['c', undefined, 'a', 'c']);
      expect(await store().getMany(schema, [])).toEqual([]);
    });
  },

  page: pagePart,
  scan: scanPart,

  delete_range: (store) => {
    const removed = async (write: Partial<{ from: string; to: string }>): Promise<(string | undefined)[]> => {
      await fill(store(), [
        ...put(item('a', 1), item('b', 2), item('c', 3), item('x', 2, 'o2')),
        { op: 'delete_range', where: { owner: 'o1' }, ...write },
      ]);
      return listed(store());
    };

    it('includes both ends', async () => {
      expect(await removed({ from: '000002', to: '000003' })).toEqual(['x', 'a']);
    });
    it('is open where an end is missing', async () => {
      expect(await removed({ to: '000002' })).toEqual(['c', 'x']);
    });
    it('deletes all that match without ends', async () => {
      expect(await removed({})).toEqual(['x']);
    });
  },

  trim: (store) => {
    it('keeps the highest, ties broken by id, and leaves others alone', async () => {
      const docs = Array.from({ length: 10 }, (_, i) => item(`d${i}`, Math.floor(i / 4)));
      await fill(store(), [
        ...put(...docs, item('x', 0, 'o2')),
        { op: 'trim', where: { owner: 'o1' }, keep: 5 },
        { op: 'trim', where: { owner: 'o2' }, keep: 5 },
      ]);
      expect(await listed(store(), { owner: 'o1' })).toEqual(['d9', 'd8', 'd7', 'd6', 'd5']);
      expect(await listed(store(), { owner: 'o2' })).toEqual(['x']);
    });

    it('keeps the newest whose bytes fit, and at most a number of them', async () => {
      const sized: CollectionSchema = { ...schema, name: 'items.sized.v1', bytes: 'size' };
      const docs = [40, 30, 20, 10, 5].map((size, at) => ({ ...item(`d${at}`, at), size }));
      const left = async (trim: { keep?: number; bytes?: number }, owner = 'o1'): Promise<unknown> => {
        const { checkpoint } = await store().register(sized);
        const next = String(Number(checkpoint ?? '0') + 1).padStart(4, '0');
        const writes: ReadModelWrite[] = docs.map((doc) => ({ op: 'put', doc }));
        writes.push({ op: 'trim', where: { owner }, ...trim });
        await store().apply({ schema: sized, generation: 1, expected: checkpoint, next, writes });
        return ids((await store().page(sized, { where: {}, limit: 10 })).docs);
      };
      expect(await left({ bytes: 105 })).toEqual(['d4', 'd3', 'd2', 'd1', 'd0']);
      expect(await left({ bytes: 104 })).toEqual(['d4', 'd3', 'd2', 'd1']);
      expect(await left({ bytes: 36 })).toEqual(['d4', 'd3', 'd2']);
      expect(await left({ bytes: 36, keep: 1 })).toEqual(['d4']);
      expect(await left({ bytes: 14, keep: 3 })).toEqual(['d4']);
      expect(await left({ bytes: 4 }, 'o2')).toEqual(['d4', 'd3', 'd2', 'd1', 'd0']);
      expect(await left({ bytes: 4 })).toEqual([]);
    });

    it('to nothing', async () => {
      await fill(store(), [...put(item('a', 1), item('b', 1)), { op: 'trim', where: {}, keep: 0 }]);
      expect(await listed(store())).toEqual([]);
    });
  },

  beside: (store, harness) => {
    it('is read by `text` alone, and is gone with the document', async () => {
      const texts: CollectionSchema = { ...schema, name: 'items.texts.v1', beside: 'payload', bytes: 'size' };
      const sized = (id: string, at: number, size: number, payload?: string): Doc =>
        ({ ...item(id, at), size, nested: { payload: 1 }, ...(payload === undefined ? {} : { payload }) }) as Doc;
      await store().register(texts);
      const apply = (expected: string | null, next: string, ...writes: ReadModelWrite[]): Promise<void> =>
        store().apply({ schema: texts, generation: 1, expected, next, writes });
      const large = JSON.stringify({ text: 'ü"\\\n'.repeat(100_000) });
      await apply(
        null,
        '1',
        { op: 'put', doc: sized('a', 1, 5, large) },
        { op: 'put', doc: sized('b', 2, 5) },
        { op: 'put', doc: sized('c', 3, 5, 'short') },
      );
      expect(await store().text(texts, 'a')).toBe(large);
      expect([await store().text(texts, 'b'), await store().text(texts, 'none')]).toEqual([undefined, undefined]);
      expect(await store().get(texts, 'a')).toEqual(sized('a', 1, 5));
      expect((await store().page(texts, { where: { owner: 'o1' }, limit: 5 })).docs).toEqual([
        sized('c', 3, 5),
        sized('b', 2, 5),
        sized('a', 1, 5),
      ]);
      const reopened = await harness().reopen();
      await reopened.register(texts);
      expect(await reopened.text(texts, 'a')).toBe(large);
      await apply('1', '2', { op: 'put', doc: sized('a', 1, 5) }, { op: 'delete', id: 'c' });
      expect([await store().text(texts, 'a'), await store().text(texts, 'c')]).toEqual([undefined, undefined]);
    });
  },

  rebuild: (store, harness) => {
    it('fills a generation while the old one is read, then switches', async () => {
      await fill(store(), put(item('old', 1)));
      const generation = await store().beginGeneration(schema);
      await store().apply({ schema, generation, expected: null, next: '7', writes: put(item('new', 2)) });
      expect(await listed(store())).toEqual(['old']);
      expect(ids([await store().get(schema, 'new'), await store().get(schema, 'new', generation)])).toEqual([
        undefined,
        'new',
      ]);
      // The old one still follows the log until the switch.
      await store().apply({ schema, generation: 1, expected: '1', next: '2', writes: put(item('old2', 3)) });

      await store().activateGeneration(schema, generation);
      await harness().flush();
      expect(await listed(store())).toEqual(['new']);
      expect(await store().register(schema)).toEqual({ active: generation, checkpoint: '7' });
      await store().apply({ schema, generation, expected: '7', next: '8', writes: put(item('new2', 3)) });
      expect(await listed(store())).toEqual(['new2', 'new']);
    });

    it('drops an unfinished one when it is restarted', async () => {
      await fill(store(), put(item('old', 1)));
      const first = await store().beginGeneration(schema);
      await store().apply({ schema, generation: first, expected: null, next: '1', writes: put(item('half', 1)) });
      const second = await store().beginGeneration(schema);
      expect(await store().getMany(schema, ['half'], second)).toEqual([undefined]);
      await store().apply({ schema, generation: second, expected: null, next: '1', writes: put(item('whole', 1)) });
      await store().activateGeneration(schema, second);
      expect(await listed(store())).toEqual(['whole']);
    });

    it('interrupted by a restart leaves the old one active', async () => {
      await fill(store(), put(item('old', 1)));
      const generation = await store().beginGeneration(schema);
      await store().apply({ schema, generation, expected: null, next: '1', writes: put(item('half', 1)) });
      const reopened = await harness().reopen();
      expect(await reopened.register(schema)).toEqual({ active: 1, checkpoint: '1' });
      expect(await listed(reopened)).toEqual(['old']);
    });
  },

  restart: (store, harness) => {
    it('finds documents and checkpoint unchanged', async () => {
      await fill(store(), put(item('a', 1), item('b', 2)));
      const reopened = await harness().reopen();
      expect(await reopened.register(schema)).toEqual({ active: 1, checkpoint: '1' });
      expect(await listed(reopened)).toEqual(['b', 'a']);
    });
  },
};
