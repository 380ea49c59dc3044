import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Db } from 'mongodb';
import { type Doc, type DocumentWrite } from '#libs/kernel/read-model-store.js';
import { LaneLost, type ClaimedLane, type LanePart } from '#libs/stream-log/lane-writes.js';
import { openTestDatabase } from '../testing/test-database.js';
import { hangingAt, steppedDb, type Around } from '../testing/stepped-db.js';
import { MongoReadModelStore } from './read-model-store.js';

/** Lanes of processes that die, hang or race, and their traces in the database. */

const schema = { name: 'items.lanes.v1', indexed: ['owner'], sort: 'at' };
const doc = (id: string, at: number, text = '', owner = 'o'): Doc =>
  ({ id, owner, at: String(at).padStart(3, '0'), text }) as Doc;
const put = (...args: Parameters<typeof doc>): DocumentWrite => ({ op: 'put', doc: doc(...args) });
const removeTo = (to: number): DocumentWrite => ({
  op: 'delete_range',
  where: { owner: 'o' },
  to: String(to).padStart(3, '0'),
});

let db: Db;
let drop: () => Promise<void>;
let now = 0;
const straight: Around = (_step, act) => act();
/** A process. */
const store = (around: Around = straight): MongoReadModelStore =>
  new MongoReadModelStore(steppedDb(db, around), {
    clock: { now: () => now },
    batchesPerSweep: 3,
    onWarning: (text, fields) => {
      throw new Error(`${text}: ${JSON.stringify(fields)}`);
    },
  });
const claim = async (of: MongoReadModelStore, id: string): Promise<ClaimedLane<Doc>> => {
  const [lane] = await of.claimLanes<Doc>(schema, 1, [id]);
  if (!lane) throw new Error(`${id} was not claimed`);
  return lane;
};
const part = ({ id, claim: by }: ClaimedLane<Doc>, offset: number, ...writes: DocumentWrite[]): LanePart => ({
  id,
  claim: by,
  progress: doc(id, offset, '', 'lane'),
  writes,
});
const apply = (of: MongoReadModelStore, ...parts: LanePart[]): Promise<void> =>
  of.applyLanes({ schema, generation: 1, parts, trims: [{ op: 'trim', where: { owner: 'o' }, keep: 5 }] });
const listed = async (): Promise<readonly Doc[]> =>
  (await store().page(schema, { where: { owner: 'o' }, limit: 100 })).docs;
const offset = async (id: string): Promise<unknown> => (await claim(store(), id)).progress;
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

beforeEach(async () => {
  now = 1_000_000;
  ({ db, drop } = await openTestDatabase());
  const first = store();
  await first.register(schema);
  await apply(first, part(await claim(first, 'l/a'), 0, ...['a', 'b', 'c'].map((id, i) => put(id, i))));
});
afterEach(() => drop());

/** Writes of one lane for its next records. Their documents have a text of their own. */
const writes = [put('a', 9, 'changed'), removeTo(1), put('d', 4), put('e', 5), put('f', 6), put('g', 7), put('h', 8)];
const result = [doc('a', 9, 'changed'), doc('h', 8), doc('g', 7), doc('f', 6), doc('e', 5)];
const steps = [
  // The claim.
  ...['read_models.findOne', 'read_models.updateOne', 'documents.bulkWrite'],
  // The documents and a look at the generation; what the trim deletes; the progress.
  ...['documents.bulkWrite', 'read_models.findOne', 'documents.findOne', 'documents.bulkWrite'],
];

describe('a batch of a lane', () => {
  it('takes the steps that the specs below cut off', async () => {
    const performed: string[] = [];
    const owner = store((step, act) => {
      performed.push(step);
      return act();
    });
    await apply(owner, part(await claim(owner, 'l/a'), 1, ...writes));
    expect(performed).toEqual(steps);
    expect(await listed()).toEqual(result);
  });

  it('of a continuing owner costs two bulk writes and a look', async () => {
    const performed: string[] = [];
    const owner = store((step, act) => {
      performed.push(step);
      return act();
    });
    const lane = await claim(owner, 'l/a');
    performed.length = 0;
    await owner.applyLanes({ schema, generation: 1, parts: [part(lane, 1, put('x', 1))], trims: [] });
    expect(performed).toEqual(['documents.bulkWrite', 'read_models.findOne', 'documents.bulkWrite']);
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
      const died = claim(dying, 'l/a').then((lane) => apply(dying, part(lane, 1, ...writes)));
      expect(await failure(died)).toMatchObject({ message: 'died' });

      const next = store();
      const lane = await claim(next, 'l/a');
      const committed = at === steps.length - 1 && when === 'after';
      expect(lane.progress).toEqual(doc('l/a', committed ? 1 : 0, '', 'lane'));
      if (!committed) await apply(next, part(lane, 1, ...writes));
      expect(await listed()).toEqual(result);
      await apply(next, part(lane, 2, put('b', 3)));
      expect(await offset('l/a')).toEqual(doc('l/a', 2, '', 'lane'));
    },
  );
});

/** Bulk writes of an owner: the claim's, the documents', the progress's. */
const DOCUMENTS = 2;
const PROGRESS = 3;

describe('an owner that hangs and continues after its lane moved', () => {
  it.each([DOCUMENTS, PROGRESS])(
    'at its bulk write %i reverts nothing of the next owner and leaves nothing behind',
    async (nth) => {
      const former = hangingAt(store, 'documents.bulkWrite', nth);
      const stale = failure(
        claim(former.store, 'l/a').then((lane) =>
          apply(former.store, part(lane, 1, put('a', 1, 'stale'), put('new', 2, 'stale'), put('d', 3, 'stale'))),
        ),
      );
      await former.hangs;
      const next = store();
      const lane = await claim(next, 'l/a');
      await apply(next, part(lane, 1, put('a', 1, 'new'), removeTo(3), put('d', 9, 'new')));
      former.go();
      expect(await stale).toBeInstanceOf(LaneLost);
      expect(await listed()).toEqual([doc('d', 9, 'new')]);
      await apply(next, part(lane, 2));
    },
  );

  it('does not touch the lane that it still has, and repeats its records', async () => {
    const former = hangingAt(store, 'documents.bulkWrite', PROGRESS);
    const both = former.store.claimLanes<Doc>(schema, 1, ['l/a', 'l/b']).then((lanes) =>
      former.store.applyLanes({
        schema,
        generation: 1,
        parts: lanes.map((lane) => part(lane, 1, put(`own-${lane.id}`, 9))),
        trims: [],
      }),
    );
    const stale = failure(both);
    await former.hangs;
    await claim(store(), 'l/a');
    former.go();
    expect(await stale).toMatchObject({ name: 'LaneLost', lanes: ['l/a'] });
    // Documents and progress of the other lane are written, and none of the lost one.
    expect((await listed()).map(({ id }) => id)).toEqual(['own-l/b', 'c', 'b', 'a']);
    expect(await offset('l/b')).toEqual(doc('l/b', 1, '', 'lane'));
    expect(await offset('l/a')).toEqual(doc('l/a', 0, '', 'lane'));
  });
});

describe('several processes', () => {
  it('that claim one lane at once: the latest has it, the others are refused', async () => {
    const processes = Array.from({ length: 6 }, () => store());
    const claims = await Promise.all(processes.map((each) => claim(each, 'l/a')));
    expect(new Set(claims.map(({ claim: number }) => number)).size).toBe(6);
    // Without a trim, because it may count what the others inserted and remove again. Processes that follow one log insert
    // the same documents, so there it counts what stays.
    const results = await Promise.allSettled(
      processes.map(async (each, i) => {
        const made = part(claims[i] ?? (await claim(each, 'l/a')), i, put(`p${i}`, i));
        await each.applyLanes({ schema, generation: 1, parts: [made], trims: [] });
      }),
    );
    const latest = claims.reduce((best, { claim: number }, i) => (number > (claims[best]?.claim ?? 0) ? i : best), 0);
    expect(results.map(({ status }) => status)).toEqual(
      results.map((_, i) => (i === latest ? 'fulfilled' : 'rejected')),
    );
    expect(await offset('l/a')).toEqual(doc('l/a', latest, '', 'lane'));
    const written = (await listed()).map(({ id }) => id).filter((id) => id.startsWith('p'));
    expect(written).toEqual([`p${latest}`]);
  });

  it('share many lanes without waiting for each other', async () => {
    const [one, two] = [store(), store()];
    const rounds = async (process: MongoReadModelStore, name: string): Promise<void> => {
      const lane = await claim(process, `l/${name}`);
      for (let n = 1; n <= 10; n++) {
        const made = part(lane, n, put(`${name}${n}`, n));
        await process.applyLanes({ schema, generation: 1, parts: [made], trims: [] });
      }
    };
    await Promise.all([...'pqrs'].map((name, i) => rounds(i % 2 === 0 ? one : two, name)));
    expect((await listed()).filter(({ id }) => /^[pqrs]\d+$/.test(id))).toHaveLength(40);
    for (const name of 'pqrs') expect(await offset(`l/${name}`)).toEqual(doc(`l/${name}`, 10, '', 'lane'));
  });

  it('sweep tombstones after their hour', async () => {
    const owner = store();
    const lane = await claim(owner, 'l/a');
    await apply(owner, part(lane, 1, removeTo(9)));
    const tombstones = (): Promise<number> =>
      db.collection('read.items.lanes.v1.1').countDocuments({ died: { $gt: 0 } });
    expect(await tombstones()).toBe(3);
    now += 61 * 60_000;
    for (let n = 2; n < 5; n++) await apply(owner, part(lane, n));
    expect(await tombstones()).toBe(0);
  });
});
