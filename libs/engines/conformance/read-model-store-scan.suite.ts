import { expect, it } from '@jest/globals';
import {
  type CollectionSchema,
  type Doc,
  type ReadModelStore,
  type Scanned,
  type ScanQuery,
} from '#libs/kernel/read-model-store.js';
import { type Part } from './harness.js';
import { ids } from './read-model-items.js';

interface Said extends Doc {
  readonly owner: string;
  readonly at: string;
  readonly topic: string;
  readonly title?: string;
  readonly long?: string;
}

const schema: CollectionSchema = { name: 'items.said.v1', indexed: ['owner'], sort: 'at', beside: 'long' };
const said = (id: string, at: number, more: Partial<Said> = {}): Said => ({
  id,
  owner: 'o1',
  at: String(at).padStart(6, '0'),
  topic: 'a',
  ...more,
});

const fill = async (store: ReadModelStore, ...docs: readonly Said[]): Promise<void> => {
  await store.register(schema);
  const writes = docs.map((doc) => ({ op: 'put', doc }) as const);
  await store.apply({ schema, generation: 1, expected: null, next: '1', writes });
};

const ALL = { where: { owner: 'o1' }, match: {}, limit: 1_000, examine: 1_000, chars: 1e9 } as const;

/** Goes on from `next` until the list ends. Returns the ids found, and the number of slices. */
const found = async (store: ReadModelStore, query: Partial<ScanQuery>): Promise<readonly [unknown[], number]> => {
  const all: (string | undefined)[] = [];
  let after: ScanQuery['after'];
  for (let slices = 1; ; slices++) {
    const slice: Scanned<Said> = await store.scan<Said>(schema, { ...ALL, ...query, ...(after ? { after } : {}) });
    all.push(...ids(slice.docs));
    if (slice.next === null) return [all, slices];
    expect(slice.examined).toBeGreaterThan(0);
    after = slice.next;
  }
};

/** The part `scan` of the ReadModelStore's suite: what is found by comparing documents. */
export const scanPart: Part<ReadModelStore> = (store) => {
  it('examines a list from its top, slice by slice, through ties', async () => {
    const docs = Array.from({ length: 23 }, (_, n) => said(`d${String(n).padStart(2, '0')}`, Math.floor(n / 5)));
    await fill(store(), ...docs, said('other', 9, { owner: 'o2' }));
    const order = docs.map(({ id }) => id).reverse();
    expect((await found(store(), {}))[0]).toEqual(order);
    const [all, slices] = await found(store(), { examine: 4 });
    expect([all, slices]).toEqual([order, 6]);
    expect((await found(store(), { limit: 3 }))[0]).toEqual(order);
    const first = await store().scan(schema, { ...ALL, limit: 3 });
    expect([ids(first.docs), first.next]).toEqual([order.slice(0, 3), { sort: '000004', id: order[2] }]);
  });

  it('begins behind any place, and keeps within both ends', async () => {
    await fill(store(), ...['a', 'b', 'c', 'd', 'e'].map((id, at) => said(id, at)));
    expect((await found(store(), { from: '000001', to: '000003' }))[0]).toEqual(['d', 'c', 'b']);
    const behind = async (sort: string, id: string) =>
      ids((await store().scan(schema, { ...ALL, after: { sort, id } })).docs);
    expect(await behind('000003', '')).toEqual(['c', 'b', 'a']);
    expect(await behind('000003', 'zz')).toEqual(['d', 'c', 'b', 'a']);
    expect(await behind('000000', 'a')).toEqual([]);
  });

  it('selects by the texts of fields, of which the part of a text may have any case and any character', async () => {
    await fill(
      store(),
      said('a', 1, { title: 'An Order of Ada' }),
      said('b', 2, { topic: 'b', title: 'ada' }),
      said('c', 3, { title: 'say "hi" \\ ÄÖ\n' }),
      said('d', 4, { topic: 'a"', title: '"topic":"b"' }),
      said('e', 5),
    );
    const titled = async (part: string) =>
      (await found(store(), { match: { contains: { part, fields: ['title'] } } }))[0];
    expect(await titled('ADA')).toEqual(['b', 'a']);
    expect(await titled('"HI" \\ äö')).toEqual(['c']);
    expect(await titled('o1')).toEqual([]);
    expect((await found(store(), { match: { equals: { topic: 'b' } } }))[0]).toEqual(['b']);
    expect((await found(store(), { match: { equals: { title: 'none' } } }))[0]).toEqual([]);
    expect((await found(store(), { match: { none: { topic: ['a', 'x'] } } }))[0]).toEqual(['d', 'b']);
  });

  it('compares the start of the text beside a document, and never returns that text', async () => {
    const within = `${'x'.repeat(60_000)}Ada`;
    const beyond = `${'x'.repeat(70_000)}Ada`;
    await fill(store(), said('a', 1, { long: within }), said('b', 2, { long: beyond }), said('c', 3, { topic: 'Ada' }));
    const match = { contains: { part: 'ada', fields: ['topic'] } };
    const { docs } = await store().scan<Said>(schema, { ...ALL, match });
    expect(ids(docs)).toEqual(['c', 'a']);
    expect(docs[1]).not.toHaveProperty('long');
    expect((await found(store(), { match: { ...match, equals: { topic: 'Ada' } } }))[0]).toEqual(['c']);
  });

  it('ends a slice after the given characters, and counts those of texts', async () => {
    const long = 'x'.repeat(50_000);
    await fill(store(), ...Array.from({ length: 6 }, (_, n) => said(`d${n}`, n, { long })));
    const match = { contains: { part: 'none', fields: ['topic'] } };
    const slice = await store().scan(schema, { ...ALL, match, chars: 120_000 });
    expect(slice.examined).toBe(3);
    expect(slice.chars).toBeGreaterThan(150_000);
    expect((await found(store(), { match, chars: 120_000 }))[1]).toBe(2);
    expect((await store().scan(schema, { ...ALL, match, chars: 1 })).examined).toBe(1);
  });

  it('reads the generation that is in force', async () => {
    await fill(store(), said('a', 1));
    const generation = await store().beginGeneration(schema);
    const writes = [{ op: 'put', doc: said('b', 2) }] as const;
    await store().apply({ schema, generation, expected: null, next: '1', writes });
    expect((await found(store(), {}))[0]).toEqual(['a']);
    await store().activateGeneration(schema, generation);
    expect((await found(store(), {}))[0]).toEqual(['b']);
  });
};
