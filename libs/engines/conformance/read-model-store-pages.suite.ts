import { expect, it } from '@jest/globals';
import { type ReadModelStore, UnknownCursor } from '#libs/kernel/read-model-store.js';
import { type Part } from './harness.js';
import { fill, ids, item, listed, put, schema } from './read-model-items.js';

/** The part `page` of the ReadModelStore's suite: lists of a collection. */
export const pagePart: Part<ReadModelStore> = (store) => {
  it('finds by the whole text, so a text cut at a NUL or an empty one differs', async () => {
    const texts = ['', '\0', 'a', 'a\0', 'a\0b', 'a\0c'];
    await fill(store(), put(...texts.map((text, at) => item(`id ${text}`, at, text))));
    for (const text of texts) {
      expect(await listed(store(), { owner: text })).toEqual([`id ${text}`]);
      expect(await store().get(schema, `id ${text}`)).toMatchObject({ owner: text });
    }
    const all = texts.map((text) => `id ${text}`);
    expect(ids(await store().getMany(schema, all))).toEqual(all);
    expect(await listed(store(), { owner: 'b\0' })).toEqual([]);
    const writes = [{ op: 'delete', id: 'id a\0b' }] as const;
    await store().apply({ schema, generation: 1, expected: '1', next: '2', writes });
    expect(ids(await store().getMany(schema, all))).toEqual(all.map((id) => (id === 'id a\0b' ? undefined : id)));
  });

  it('finds by any text of a list, with the total of all of them, and nothing by an empty one', async () => {
    const docs = ['a', 'b', 'c', 'a'].map((owner, at) => item(`d${at}`, at, owner, at < 3 ? 'low' : 'high'));
    await fill(store(), put(...docs));
    const page = async (owner: readonly string[], more = {}) => {
      const found = await store().page(schema, { where: { owner, ...more }, limit: 2 });
      return [ids(found.docs), found.total];
    };
    expect(await page(['a', 'c', 'none'])).toEqual([['d3', 'd2'], 3]);
    expect(await page(['a', 'b'], { kind: 'low' })).toEqual([['d1', 'd0'], 2]);
    expect(await page(['c'])).toEqual([['d2'], 1]);
    expect(await page([])).toEqual([[], 0]);
    // A repeat is answered from the stored total.
    expect(await page(['a', 'c', 'none'])).toEqual([['d3', 'd2'], 3]);
  });

  // Ties in `at`: five documents share each value.
  const docs = Array.from({ length: 25 }, (_, i) =>
    item(`d${String(i).padStart(2, '0')}`, Math.floor(i / 5), i % 2 === 0 ? 'even' : 'odd', i < 12 ? 'low' : 'high'),
  );
  const order = docs.map(({ id }) => id).reverse();

  const docsOf = (wanted: readonly string[]) => wanted.map((id) => expect.objectContaining({ id }));

  it('lists highest sort first, then highest id', async () => {
    await fill(store(), put(...docs));
    const page = await store().page(schema, { where: {}, limit: 7 });
    expect(ids(page.docs)).toEqual(order.slice(0, 7));
    expect(page.total).toBe(25);
  });

  it('pages down by `after` without a gap or a repeat, also through ties', async () => {
    await fill(store(), put(...docs));
    const seen: string[] = [];
    for (;;) {
      const after = seen.at(-1);
      const page = await store().page(schema, { where: {}, limit: 4, ...(after === undefined ? {} : { after }) });
      if (page.docs.length === 0) break;
      seen.push(...page.docs.map(({ id }) => id));
    }
    expect(seen).toEqual(order);
  });

  it('pages up by `before`: those right before it, in list order', async () => {
    await fill(store(), put(...docs));
    const before = order[12]!;
    expect(ids((await store().page(schema, { where: {}, limit: 4, before })).docs)).toEqual(order.slice(8, 12));
    expect(ids((await store().page(schema, { where: {}, limit: 4, before: order[2]! })).docs)).toEqual(
      order.slice(0, 2),
    );
  });

  it('between `after` and `before`', async () => {
    await fill(store(), put(...docs));
    const page = await store().page(schema, { where: {}, limit: 100, after: order[3]!, before: order[9]! });
    expect(ids(page.docs)).toEqual(order.slice(4, 9));
  });

  it('filters by one field and by several, and counts what matches', async () => {
    await fill(store(), put(...docs));
    const odd = await store().page(schema, { where: { owner: 'odd' }, limit: 3 });
    expect(ids(odd.docs)).toEqual(['d23', 'd21', 'd19']);
    expect(odd.total).toBe(12);
    const both = await store().page(schema, { where: { owner: 'odd', kind: 'low' }, limit: 3, after: 'd09' });
    expect(ids(both.docs)).toEqual(['d07', 'd05', 'd03']);
    expect(both.total).toBe(6);
    expect(await store().page(schema, { where: { owner: 'none' }, limit: 3 })).toEqual({ docs: [], total: 0 });
  });

  it('keeps to a span of the sort field, both ends included, in pages and counts', async () => {
    await fill(store(), put(...docs));
    const [from, to] = [item('x', 1).at, item('x', 3).at];
    const page = (query: object) => store().page(schema, { where: {}, limit: 4, from, to, ...query });
    expect(ids((await page({ limit: 100 })).docs)).toEqual(order.slice(5, 20));
    expect(await page({ after: order[7] })).toMatchObject({ docs: docsOf(order.slice(8, 12)), total: 15 });
    expect(ids((await page({ after: order[17] })).docs)).toEqual(order.slice(18, 20));
    expect(ids((await page({ before: order[7] })).docs)).toEqual(order.slice(5, 7));
    const odd = await page({ where: { owner: 'odd' } });
    expect(ids(odd.docs)).toEqual(['d19', 'd17', 'd15', 'd13']);
    expect(odd.total).toBe(8);
    expect((await store().page(schema, { where: {}, limit: 1, from })).total).toBe(20);
    expect((await store().page(schema, { where: {}, limit: 1, to })).total).toBe(20);
    expect(await page({ from: to, to: from })).toEqual({ docs: [], total: 0 });
    await expect(page({ after: order[0] })).rejects.toThrow(UnknownCursor);
  });

  it('begins where a document was that is gone, when its sort is known', async () => {
    const gone = item('d12', 2);
    await fill(store(), put(...docs.filter(({ id }) => id !== gone.id)));
    const sortOf = (id: string): string | undefined => (id === gone.id ? gone.at : undefined);
    const page = (query: object) => store().page(schema, { where: {}, limit: 3, sortOf, ...query });
    const at = order.indexOf(gone.id);
    expect(ids((await page({ after: gone.id })).docs)).toEqual(order.slice(at + 1, at + 4));
    expect(ids((await page({ before: gone.id })).docs)).toEqual(order.slice(at - 3, at));
    await expect(page({ after: 'none' })).rejects.toThrow(UnknownCursor);
  });

  it('refuses a cursor that names no document of this list', async () => {
    await fill(store(), put(...docs));
    const page = (query: object): Promise<unknown> => store().page(schema, { where: {}, limit: 3, ...query });
    await expect(page({ after: 'none' })).rejects.toThrow(UnknownCursor);
    await expect(page({ before: 'none' })).rejects.toThrow(UnknownCursor);
    await expect(page({ where: { owner: 'odd' }, after: 'd02' })).rejects.toThrow(UnknownCursor);
  });
};
