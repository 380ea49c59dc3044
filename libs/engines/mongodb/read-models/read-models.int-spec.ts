import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Db } from 'mongodb';
import { CheckpointConflict, type ApplyBatch, type Doc, type ReadModelWrite } from '#libs/kernel/read-model-store.js';
import { MongoReadModelStore } from './read-model-store.js';
import { hangingAt, steppedDb, type Around } from '../testing/stepped-db.js';
import { openTestDatabase } from '../testing/test-database.js';

/** Covers what the conformance suite cannot see: processes that die, hang or race, and their traces in the database. */

const schema = { name: 'items.list.v1', indexed: ['owner'], sort: 'at' };
const doc = (id: string, at: number, text = ''): Doc => ({ id, owner: 'o', at: String(at), text }) as Doc;
const put = (...args: Parameters<typeof doc>): ReadModelWrite => ({ op: 'put', doc: doc(...args) });
const batch = (expected: string | null, next: string, ...writes: ReadModelWrite[]): ApplyBatch => ({
  schema,
  generation: 1,
  expected,
  next,
  writes,
});

let db: Db;
let drop: () => Promise<void>;
let now = 0;
const straight: Around = (_step, act) => act();
/** A process. */
const store = (around: Around = straight): MongoReadModelStore =>
  new MongoReadModelStore(steppedDb(db, around), {
    clock: { now: () => now },
    batchesPerSweep: 20,
    onWarning: (text, fields) => {
      throw new Error(`${text}: ${JSON.stringify(fields)}`);
    },
  });
const listed = async (): Promise<readonly Doc[]> => {
  const reader = store();
  await reader.register(schema);
  return (await reader.page(schema, { where: { owner: 'o' }, limit: 100 })).docs;
};
const checkpoint = async (): Promise<string | null | undefined> => (await store().checkpoints([schema]))[0];
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

beforeEach(async () => {
  now = 1_000_000;
  ({ db, drop } = await openTestDatabase());
  await store().register(schema);
  await store().apply(batch(null, '1', ...['a', 'b', 'c', 'd', 'e', 'f'].map((id, i) => put(id, i))));
});
afterEach(() => drop());

const writes: readonly ReadModelWrite[] = [
  put('a', 9, 'changed'),
  { op: 'delete_range', where: { owner: 'o' }, from: '1', to: '1' },
  { op: 'delete', id: 'c' },
  put('g', 8),
  put('b', 7, 'again'),
  { op: 'trim', where: { owner: 'o' }, keep: 5 },
  put('lane', 0),
];
const result = [doc('a', 9, 'changed'), doc('g', 8), doc('b', 7, 'again'), doc('f', 5), doc('e', 4), doc('lane', 0)];
const steps = [
  'read_models.findOne',
  'read_models.updateOne',
  'documents.bulkWrite',
  'documents.findOne',
  'documents.bulkWrite',
  'read_models.updateOne',
];

describe('a batch', () => {
  it('takes the steps that the specs below cut off', async () => {
    const performed: string[] = [];
    await store((step, act) => {
      performed.push(step);
      return act();
    }).apply(batch('1', '2', ...writes));
    expect(performed).toEqual(steps);
    expect(await listed()).toEqual(result);
  });

  it('of a continuing owner costs one lookup, one bulk write and the commit', async () => {
    const performed: string[] = [];
    const owner = store((step, act) => {
      performed.push(step);
      return act();
    });
    await owner.apply(batch('1', '2', put('x', 1)));
    performed.length = 0;
    await owner.apply(batch('2', '3', put('y', 1), { op: 'delete', id: 'x' }, put('z', 1)));
    expect(performed).toEqual(['read_models.findOne', 'documents.bulkWrite', 'read_models.updateOne']);
  });

  it.each(steps.flatMap((step, i) => [[i, step, 'before'] as const, [i, step, 'after'] as const]))(
    'cut off at step %i (%s), %s it is done, is made whole by the next owner',
    async (at, _step, when) => {
      let count = 0;
      const dying = store(async (_, act) => {
        const step = count++;
        if (step === at && when === 'after') await act();
        if (step >= at) throw new Error('died');
        return act();
      });
      expect(await failure(dying.apply(batch('1', '2', ...writes)))).toMatchObject({ message: 'died' });

      const next = store();
      const { checkpoint: found } = await next.register(schema);
      const committed = at === steps.length - 1 && when === 'after';
      expect(found).toBe(committed ? '2' : '1');
      if (!committed) await next.apply(batch('1', '2', ...writes));
      expect(await listed()).toEqual(result);
      await next.apply(batch('2', '3', put('c', 3)));
      expect((await listed()).map(({ id }) => id)).toEqual(['a', 'g', 'b', 'f', 'e', 'c', 'lane']);
    },
  );

  it.each(writes.map((_, i) => i))('of which %i writes arrived is made whole by the next owner', async (arrived) => {
    const dying = store((step, act) =>
      step === 'read_models.updateOne' && ready ? Promise.reject(new Error('died')) : act(),
    );
    let ready = false;
    await dying.apply(batch('1', '1'));
    ready = true;
    await failure(dying.apply(batch('1', '2', ...writes.slice(0, arrived))));
    await store().apply(batch('1', '2', ...writes));
    expect(await listed()).toEqual(result);
  });
});

describe('an owner that hangs and continues', () => {
  it('reverts nothing that the next owner wrote or deleted since', async () => {
    const former = hangingAt(store, 'documents.bulkWrite');
    const stale = failure(
      former.store.apply(
        batch('1', '2', put('a', 1, 'stale'), put('b', 1, 'stale'), put('c', 1, 'stale'), put('g', 1, 'stale')),
      ),
    );
    await former.hangs;
    const next = store();
    await next.apply(batch('1', '2', put('a', 2, 'new'), { op: 'delete', id: 'b' }, { op: 'delete', id: 'g' }));
    await next.apply(batch('2', '3', { op: 'delete_range', where: { owner: 'o' }, to: '2' }));
    const after = await listed();
    former.go();
    const error = await stale;
    expect(error).toBeInstanceOf(CheckpointConflict);
    expect(error).toMatchObject({ expected: '1', actual: '3' });
    expect(await listed()).toEqual(after);
    expect(after.map(({ id }) => id)).toEqual(['f', 'e', 'd']);
  });

  it('removes what it inserted into a range that was deleted meanwhile', async () => {
    const former = hangingAt(store, 'documents.bulkWrite');
    const stale = failure(former.store.apply(batch('1', '2', put('new', 3, 'stale'))));
    await former.hangs;
    await store().apply(batch('1', '2', { op: 'delete_range', where: { owner: 'o' } }));
    former.go();
    expect(await stale).toBeInstanceOf(CheckpointConflict);
    expect(await listed()).toEqual([]);
  });

  it('at the commit leaves what the next owner made of the same events', async () => {
    // The first such write reserves the number.
    const former = hangingAt(store, 'read_models.updateOne', 2);
    const stale = failure(former.store.apply(batch('1', '2', put('a', 0, 'stale'), put('z', 9, 'stale'))));
    await former.hangs;
    await store().apply(batch('1', '3', put('a', 0, 'new'), put('z', 9, 'new')));
    former.go();
    expect(await stale).toBeInstanceOf(CheckpointConflict);
    expect(await checkpoint()).toBe('3');
    expect(await store().getMany(schema, ['a', 'z'])).toEqual([doc('a', 0, 'new'), doc('z', 9, 'new')]);
  });

  it('between two batches writes no document at all', async () => {
    const performed: string[] = [];
    const former = store((step, act) => {
      performed.push(step);
      return act();
    });
    await former.apply(batch('1', '2', put('a', 1)));
    await store().apply(batch('2', '3', put('a', 2)));
    performed.length = 0;
    expect(await failure(former.apply(batch('2', '3', put('z', 9))))).toBeInstanceOf(CheckpointConflict);
    expect(performed).toEqual(['read_models.findOne']);
  });
});

describe('several processes', () => {
  it('that apply at once: one succeeds, and its documents are stored', async () => {
    let expected = '1';
    for (const round of ['2', '3', '4']) {
      const results = await Promise.allSettled(
        Array.from({ length: 6 }, (_, i) =>
          store().apply(batch(expected, `${round}-${i}`, put('a', 1, `${round}-${i}`), put(`own-${i}`, 2, round))),
        ),
      );
      const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
      expect(failures).toHaveLength(5);
      for (const error of failures) expect(error).toBeInstanceOf(CheckpointConflict);
      const won = results.findIndex(({ status }) => status === 'fulfilled');
      expected = `${round}-${won}`;
      expect(await checkpoint()).toBe(expected);
      expect(await store().get(schema, 'a')).toEqual(doc('a', 1, expected));
      expect(await store().get(schema, `own-${won}`)).toEqual(doc(`own-${won}`, 2, round));
    }
  });

  it('may register a read model at once', async () => {
    const fresh = { ...schema, name: 'items.fresh.v1' };
    const states = await Promise.all(Array.from({ length: 6 }, () => store().register(fresh)));
    expect(states).toEqual(Array.from({ length: 6 }, () => ({ active: 1, checkpoint: null })));
  });

  it('refuse a read model of one name and another shape', async () => {
    await expect(store().register({ ...schema, indexed: ['other'] })).rejects.toThrow(/needs a new name/);
  });

  it('begin separate generations at once, and the last one can be filled', async () => {
    const begun = await Promise.all([store(), store(), store()].map((each) => each.beginGeneration(schema)));
    expect([...begun].sort()).toEqual([2, 3, 4]);
    await store().apply({ ...batch(null, '9', put('x', 1)), generation: 4 });
    await expect(store().activateGeneration(schema, 2)).rejects.toThrow(/no generation 2/);
    await store().activateGeneration(schema, 4);
    expect((await listed()).map(({ id }) => id)).toEqual(['x']);
  });
});

describe('a replaced generation', () => {
  const collections = async (): Promise<string[]> =>
    (await db.listCollections({}, { nameOnly: true }).toArray())
      .map(({ name }) => name)
      .filter((name) => name.startsWith('read.'));

  it('is dropped; readers and the owner in other processes notice', async () => {
    const [reader, owner, rebuild] = [store(), store(), store()];
    await reader.register(schema);
    expect(await reader.get(schema, 'a')).toEqual(doc('a', 0));
    await owner.apply(batch('1', '2', put('h', 7)));
    const generation = await rebuild.beginGeneration(schema);
    await rebuild.apply({ ...batch(null, '2', put('x', 1)), generation });
    expect(await collections()).toEqual(['read.items.list.v1.1', 'read.items.list.v1.2'].sort());
    await rebuild.activateGeneration(schema, generation);
    expect(await collections()).toEqual(['read.items.list.v1.2']);

    expect(await reader.page(schema, { where: {}, limit: 5 })).toEqual({ docs: [doc('x', 1)], total: 1 });
    expect(await reader.getMany(schema, ['a', 'x'])).toEqual([undefined, doc('x', 1)]);
    expect(await failure(owner.apply(batch('2', '3', put('i', 8))))).toBeInstanceOf(CheckpointConflict);
  });

  it('recreated by a write in flight is dropped at the next start', async () => {
    const former = hangingAt(store, 'documents.bulkWrite');
    const stale = failure(former.store.apply(batch('1', '2', put('z', 1))));
    await former.hangs;
    const generation = await store().beginGeneration(schema);
    await store().activateGeneration(schema, generation);
    former.go();
    expect(await stale).toBeInstanceOf(CheckpointConflict);
    await store().register(schema);
    expect(await collections()).toEqual(['read.items.list.v1.2']);
  });
});

describe('a tombstone', () => {
  it('is in no list and no total, and is swept after its hour', async () => {
    const owner = store();
    await owner.apply(batch('1', '2', { op: 'delete', id: 'a' }, { op: 'delete', id: 'never' }));
    await owner.apply(batch('2', '3', { op: 'delete_range', where: { owner: 'o' }, from: '1', to: '3' }));
    const reader = store();
    expect(await reader.page(schema, { where: {}, limit: 9 })).toMatchObject({
      total: 2,
      docs: [{ id: 'f' }, { id: 'e' }],
    });
    expect(await reader.page(schema, { where: { owner: 'o' }, limit: 9 })).toMatchObject({ total: 2 });
    expect(await reader.getMany(schema, ['a', 'never', 'b'])).toEqual([undefined, undefined, undefined]);
    const tombstones = (): Promise<number> =>
      db.collection('read.items.list.v1.1').countDocuments({ died: { $gt: 0 } });
    expect(await tombstones()).toBe(5);

    const run = async (from: number, count: number): Promise<void> => {
      for (let i = from; i < from + count; i++) await owner.apply(batch(String(i), String(i + 1)));
    };
    await run(3, 20);
    expect(await tombstones()).toBe(5);
    now += 61 * 60_000;
    await run(23, 20);
    expect(await tombstones()).toBe(0);
  });

  it('gives way to the document when it is put again', async () => {
    await store().apply(batch('1', '2', { op: 'delete', id: 'a' }));
    await store().apply(batch('2', '3', put('a', 9)));
    expect((await listed())[0]).toEqual(doc('a', 9));
    expect(await db.collection('read.items.list.v1.1').countDocuments({ died: { $gt: 0 } })).toBe(0);
  });
});
