import { expect, it } from '@jest/globals';
import { type Doc, type DocumentWrite, type ReadModelStore, type Trim } from '#libs/kernel/read-model-store.js';
import { LaneLost, type ClaimedLane, type LanePart, type LaneWrites } from '#libs/stream-log/lane-writes.js';
import { type MakeHarness, type Part } from './harness.js';
import { item, listed, schema, type Item } from './read-model-items.js';
import { runParts, type Omitted } from './run-parts.js';

export interface LanesUnderTest {
  readonly lanes: LaneWrites;
  /** The store that the lanes are written to. */
  readonly readModels: ReadModelStore;
}

export const LANE_WRITES_PARTS = ['progress', 'trims', 'claims'] as const;

export const describeLaneWrites = (name: string, make: MakeHarness<LanesUnderTest>): void =>
  runParts(`LaneWrites: ${name}`, LANE_WRITES_PARTS, parts, make);
export const describeLaneWritesDouble = (
  name: string,
  make: MakeHarness<LanesUnderTest>,
  omitted: Omitted<(typeof LANE_WRITES_PARTS)[number]>,
): void => runParts(`LaneWrites: ${name}`, LANE_WRITES_PARTS, parts, make, omitted);

/** Document with the progress of a lane, at an offset. */
const progress = (id: string, at: number): Item => item(id, at, 'lane');
const puts = (...docs: Item[]): DocumentWrite[] => docs.map((doc) => ({ op: 'put', doc }));

const claimOf = async ({ lanes }: LanesUnderTest, id: string, generation = 1): Promise<ClaimedLane<Item>> => {
  const [lane] = await lanes.claimLanes<Item>(schema, generation, [id]);
  if (!lane) throw new Error(`${id} was not claimed`);
  return lane;
};
const partOf = (
  { id, claim }: ClaimedLane<Doc>,
  next: number | 'unchanged' | 'removed',
  ...writes: DocumentWrite[]
): LanePart => ({ id, claim, progress: typeof next === 'number' ? progress(id, next) : next, writes });
const apply = ({ lanes }: LanesUnderTest, parts: readonly LanePart[], trims: readonly Trim[] = []): Promise<void> =>
  lanes.applyLanes({ schema, generation: 1, parts, trims });
const offsetOf = async ({ readModels }: LanesUnderTest, id: string): Promise<string | undefined> =>
  (await readModels.get<Item>(schema, id))?.at;
const docs = ({ readModels }: LanesUnderTest): Promise<(string | undefined)[]> => listed(readModels, { owner: 'o1' });

const parts: Record<(typeof LANE_WRITES_PARTS)[number], Part<LanesUnderTest>> = {
  progress: (port, harness) => {
    it('begin without progress, and go on from what their last owner wrote', async () => {
      await port().readModels.register(schema);
      const [a, b] = await port().lanes.claimLanes<Item>(schema, 1, ['l/a', 'l/b']);
      if (!a || !b) throw new Error('two lanes were claimed');
      expect([a.progress, b.progress]).toEqual([undefined, undefined]);
      await apply(port(), [partOf(a, 3, ...puts(item('a1', 1), item('a2', 2))), partOf(b, 0, ...puts(item('b1', 3)))]);
      await apply(port(), [partOf(a, 4, { op: 'delete_range', where: { owner: 'o1' }, to: '000001' })]);
      expect(await docs(port())).toEqual(['b1', 'a2']);

      await harness().flush();
      const reopened = await harness().reopen();
      await reopened.readModels.register(schema);
      const again = await claimOf(reopened, 'l/a');
      expect(again.progress).toEqual(progress('l/a', 4));
      await apply(reopened, [partOf(again, 5, ...puts(item('a2', 9)), { op: 'delete', id: 'b1' })]);
      expect(await docs(reopened)).toEqual(['a2']);
      expect(await offsetOf(reopened, 'l/a')).toBe('000005');
    });

    it('are in no list before they have progress', async () => {
      await port().readModels.register(schema);
      await claimOf(port(), 'l/a');
      expect(await port().readModels.page(schema, { where: {}, limit: 5 })).toEqual({ docs: [], total: 0 });
    });

    it('keep their progress or lose it when only documents go', async () => {
      await port().readModels.register(schema);
      const a = await claimOf(port(), 'l/a');
      await apply(port(), [partOf(a, 7, ...puts(item('a1', 1), item('a2', 2)))]);
      await apply(port(), [partOf(a, 'unchanged', { op: 'delete', id: 'a1' })]);
      expect([await docs(port()), await offsetOf(port(), 'l/a')]).toEqual([['a2'], '000007']);
      await apply(port(), [partOf(a, 'removed', { op: 'delete', id: 'a2' })]);
      expect([await docs(port()), await offsetOf(port(), 'l/a')]).toEqual([[], undefined]);
      expect((await claimOf(port(), 'l/a')).progress).toBeUndefined();
    });
  },

  trims: (port) => {
    it('are trimmed together, whoever wrote the documents', async () => {
      await port().readModels.register(schema);
      const a = await claimOf(port(), 'l/a');
      await apply(port(), [partOf(a, 1, ...puts(item('a1', 1), item('a2', 4)))]);
      const b = await claimOf(port(), 'l/b');
      await apply(port(), [partOf(b, 1, ...puts(item('b1', 2), item('b2', 3)))]);
      const trim: Trim = { op: 'trim', where: { owner: 'o1' }, keep: 2 };
      await apply(port(), [partOf(a, 2)], [trim]);
      expect(await docs(port())).toEqual(['a2', 'b2']);
    });
  },

  claims: (port, harness) => {
    it('refuse whoever claimed them earlier, who changes neither documents nor progress', async () => {
      await port().readModels.register(schema);
      const former = await claimOf(port(), 'l/a');
      await apply(port(), [partOf(former, 1, ...puts(item('a1', 1), item('a2', 2)))]);
      const next = await claimOf(port(), 'l/a');
      expect(next.claim).toBeGreaterThan(former.claim);
      await apply(port(), [partOf(next, 2, ...puts(item('a1', 8)), { op: 'delete', id: 'a2' })]);
      const late = apply(port(), [partOf(former, 9, ...puts(item('a1', 1), item('a2', 2), item('a3', 3)))]);
      await expect(late).rejects.toBeInstanceOf(LaneLost);
      expect(await docs(port())).toEqual(['a1']);
      expect(await port().readModels.get(schema, 'a1')).toEqual(item('a1', 8));
      expect(await offsetOf(port(), 'l/a')).toBe('000002');
      await apply(port(), [partOf(next, 3)]);
      expect(await offsetOf(port(), 'l/a')).toBe('000003');
    });

    it('are written by two owners, each its own', async () => {
      await port().readModels.register(schema);
      const a = await claimOf(port(), 'l/a');
      const b = await claimOf(port(), 'l/b');
      await Promise.all(
        [1, 2, 3].flatMap((n) => [
          apply(port(), [partOf(a, n, ...puts(item(`a${n}`, n)))]),
          apply(port(), [partOf(b, n, ...puts(item(`b${n}`, n)))]),
        ]),
      );
      expect(await docs(port())).toEqual(['b3', 'a3', 'b2', 'a2', 'b1', 'a1']);
    });

    it('tell of a lost one without a change to it, beside others', async () => {
      await port().readModels.register(schema);
      const [a, b] = await port().lanes.claimLanes<Item>(schema, 1, ['l/a', 'l/b']);
      if (!a || !b) throw new Error('two lanes were claimed');
      await claimOf(port(), 'l/b');
      const batch = apply(port(), [partOf(a, 1, ...puts(item('a1', 1))), partOf(b, 1, ...puts(item('b1', 1)))]);
      await expect(batch).rejects.toBeInstanceOf(LaneLost);
      expect(await docs(port())).not.toContain('b1');
      expect(await offsetOf(port(), 'l/b')).toBeUndefined();
      // The owner claims the lane again, reads what was written, and repeats the rest.
      const again = await claimOf(port(), 'l/a');
      if (again.progress === undefined) await apply(port(), [partOf(again, 1, ...puts(item('a1', 1)))]);
      expect(await docs(port())).toEqual(['a1']);
      expect(await offsetOf(port(), 'l/a')).toBe('000001');
    });

    it('end with their generation', async () => {
      await port().readModels.register(schema);
      const a = await claimOf(port(), 'l/a');
      await apply(port(), [partOf(a, 1, ...puts(item('a1', 1)))]);
      const generation = await port().readModels.beginGeneration(schema);
      const next = await claimOf(port(), 'l/a', generation);
      expect(next.progress).toBeUndefined();
      await port().lanes.applyLanes({
        schema,
        generation,
        parts: [partOf(next, 1, ...puts(item('n1', 1)))],
        trims: [],
      });
      await apply(port(), [partOf(a, 2, ...puts(item('a2', 2)))]);
      await port().readModels.activateGeneration(schema, generation);
      await harness().flush();
      await expect(apply(port(), [partOf(a, 3, ...puts(item('a3', 3)))])).rejects.toBeInstanceOf(LaneLost);
      await expect(claimOf(port(), 'l/a')).rejects.toBeInstanceOf(LaneLost);
      expect(await docs(port())).toEqual(['n1']);
      await port().lanes.applyLanes({
        schema,
        generation,
        parts: [partOf(next, 2, ...puts(item('n2', 2)))],
        trims: [],
      });
      expect(await docs(port())).toEqual(['n2', 'n1']);
    });
  },
};
