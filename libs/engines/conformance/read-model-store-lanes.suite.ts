import { expect, it } from '@jest/globals';
import {
  LaneLost,
  type ClaimedLane,
  type Doc,
  type DocumentWrite,
  type LanePart,
  type ReadModelStore,
  type Trim,
} from '#libs/kernel/read-model-store.js';
import { type Part } from './harness.js';
import { item, listed, schema, type Item } from './read-model-items.js';

/** Progress of a lane, at an offset. It is a document as any other. */
const progress = (id: string, at: number): Item => item(id, at, 'lane');
const puts = (...docs: Item[]): DocumentWrite[] => docs.map((doc) => ({ op: 'put', doc }));

const claimOf = async (store: ReadModelStore, id: string, generation = 1): Promise<ClaimedLane<Item>> => {
  const [lane] = await store.claimLanes<Item>(schema, generation, [id]);
  if (!lane) throw new Error(`${id} was not claimed`);
  return lane;
};
const partOf = (
  { id, claim }: ClaimedLane<Doc>,
  next: number | 'unchanged' | 'removed',
  ...writes: DocumentWrite[]
): LanePart => ({ id, claim, progress: typeof next === 'number' ? progress(id, next) : next, writes });
const apply = (store: ReadModelStore, parts: readonly LanePart[], trims: readonly Trim[] = []): Promise<void> =>
  store.applyLanes({ schema, generation: 1, parts, trims });
const offsetOf = async (store: ReadModelStore, id: string): Promise<string | undefined> =>
  (await store.get<Item>(schema, id))?.at;
const docs = (store: ReadModelStore): Promise<(string | undefined)[]> => listed(store, { owner: 'o1' });

export const lanesPart: Part<ReadModelStore> = (store, harness) => {
  it('begin without progress, and go on from what their last owner wrote', async () => {
    await store().register(schema);
    const [a, b] = await store().claimLanes<Item>(schema, 1, ['l/a', 'l/b']);
    if (!a || !b) throw new Error('two lanes were claimed');
    expect([a.progress, b.progress]).toEqual([undefined, undefined]);
    await apply(store(), [partOf(a, 3, ...puts(item('a1', 1), item('a2', 2))), partOf(b, 0, ...puts(item('b1', 3)))]);
    await apply(store(), [partOf(a, 4, { op: 'delete_range', where: { owner: 'o1' }, to: '000001' })]);
    expect(await docs(store())).toEqual(['b1', 'a2']);

    await harness().flush();
    const reopened = await harness().reopen();
    await reopened.register(schema);
    const again = await claimOf(reopened, 'l/a');
    expect(again.progress).toEqual(progress('l/a', 4));
    await apply(reopened, [partOf(again, 5, ...puts(item('a2', 9)), { op: 'delete', id: 'b1' })]);
    expect(await docs(reopened)).toEqual(['a2']);
    expect(await offsetOf(reopened, 'l/a')).toBe('000005');
  });

  it('are in no list before they have progress', async () => {
    await store().register(schema);
    await claimOf(store(), 'l/a');
    expect(await store().page(schema, { where: {}, limit: 5 })).toEqual({ docs: [], total: 0 });
  });

  it('refuse whoever claimed them earlier, who changes neither documents nor progress', async () => {
    await store().register(schema);
    const former = await claimOf(store(), 'l/a');
    await apply(store(), [partOf(former, 1, ...puts(item('a1', 1), item('a2', 2)))]);
    const next = await claimOf(store(), 'l/a');
    expect(next.claim).toBeGreaterThan(former.claim);
    await apply(store(), [partOf(next, 2, ...puts(item('a1', 8)), { op: 'delete', id: 'a2' })]);
    const late = apply(store(), [partOf(former, 9, ...puts(item('a1', 1), item('a2', 2), item('a3', 3)))]);
    await expect(late).rejects.toBeInstanceOf(LaneLost);
    expect(await docs(store())).toEqual(['a1']);
    expect(await store().get(schema, 'a1')).toEqual(item('a1', 8));
    expect(await offsetOf(store(), 'l/a')).toBe('000002');
    await apply(store(), [partOf(next, 3)]);
    expect(await offsetOf(store(), 'l/a')).toBe('000003');
  });

  it('are written by two owners, each its own', async () => {
    await store().register(schema);
    const a = await claimOf(store(), 'l/a');
    const b = await claimOf(store(), 'l/b');
    await Promise.all(
      [1, 2, 3].flatMap((n) => [
        apply(store(), [partOf(a, n, ...puts(item(`a${n}`, n)))]),
        apply(store(), [partOf(b, n, ...puts(item(`b${n}`, n)))]),
      ]),
    );
    expect(await docs(store())).toEqual(['b3', 'a3', 'b2', 'a2', 'b1', 'a1']);
  });

  it('tell of a lost one without a change to it, beside others', async () => {
    await store().register(schema);
    const [a, b] = await store().claimLanes<Item>(schema, 1, ['l/a', 'l/b']);
    if (!a || !b) throw new Error('two lanes were claimed');
    await claimOf(store(), 'l/b');
    const batch = apply(store(), [partOf(a, 1, ...puts(item('a1', 1))), partOf(b, 1, ...puts(item('b1', 1)))]);
    await expect(batch).rejects.toBeInstanceOf(LaneLost);
    expect(await docs(store())).not.toContain('b1');
    expect(await offsetOf(store(), 'l/b')).toBeUndefined();
    // Its owner claims again, sees what was written, and repeats the rest.
    const again = await claimOf(store(), 'l/a');
    if (again.progress === undefined) await apply(store(), [partOf(again, 1, ...puts(item('a1', 1)))]);
    expect(await docs(store())).toEqual(['a1']);
    expect(await offsetOf(store(), 'l/a')).toBe('000001');
  });

  it('keep their progress or lose it when only documents go', async () => {
    await store().register(schema);
    const a = await claimOf(store(), 'l/a');
    await apply(store(), [partOf(a, 7, ...puts(item('a1', 1), item('a2', 2)))]);
    await apply(store(), [partOf(a, 'unchanged', { op: 'delete', id: 'a1' })]);
    expect([await docs(store()), await offsetOf(store(), 'l/a')]).toEqual([['a2'], '000007']);
    await apply(store(), [partOf(a, 'removed', { op: 'delete', id: 'a2' })]);
    expect([await docs(store()), await offsetOf(store(), 'l/a')]).toEqual([[], undefined]);
    expect((await claimOf(store(), 'l/a')).progress).toBeUndefined();
  });

  it('are trimmed together, whoever wrote the documents', async () => {
    await store().register(schema);
    const a = await claimOf(store(), 'l/a');
    await apply(store(), [partOf(a, 1, ...puts(item('a1', 1), item('a2', 4)))]);
    const b = await claimOf(store(), 'l/b');
    await apply(store(), [partOf(b, 1, ...puts(item('b1', 2), item('b2', 3)))]);
    const trim: Trim = { op: 'trim', where: { owner: 'o1' }, keep: 2 };
    await apply(store(), [partOf(a, 2)], [trim]);
    expect(await docs(store())).toEqual(['a2', 'b2']);
  });

  it('end with their generation', async () => {
    await store().register(schema);
    const a = await claimOf(store(), 'l/a');
    await apply(store(), [partOf(a, 1, ...puts(item('a1', 1)))]);
    const generation = await store().beginGeneration(schema);
    const next = await claimOf(store(), 'l/a', generation);
    expect(next.progress).toBeUndefined();
    await store().applyLanes({ schema, generation, parts: [partOf(next, 1, ...puts(item('n1', 1)))], trims: [] });
    await apply(store(), [partOf(a, 2, ...puts(item('a2', 2)))]);
    await store().activateGeneration(schema, generation);
    await harness().flush();
    await expect(apply(store(), [partOf(a, 3, ...puts(item('a3', 3)))])).rejects.toBeInstanceOf(LaneLost);
    await expect(claimOf(store(), 'l/a')).rejects.toBeInstanceOf(LaneLost);
    expect(await docs(store())).toEqual(['n1']);
    await store().applyLanes({ schema, generation, parts: [partOf(next, 2, ...puts(item('n2', 2)))], trims: [] });
    expect(await docs(store())).toEqual(['n2', 'n1']);
  });
};
