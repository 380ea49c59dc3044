import { describe, expect, it } from '@jest/globals';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { type LaneOrigin } from './lane-origin.js';
import { ForgottenKeys } from './forgotten-keys.js';
import { lanesOfOneProcess } from './lane-writes.js';
import { StreamFold } from './stream-fold.js';
import { type StreamProjection } from './stream-projection.js';
import { type StoredRecord } from './stream-log.js';

interface Line extends Doc {
  readonly list: string;
  readonly sort: string;
}

const lines: StreamProjection<Line> = {
  name: 'specs.folded.v1',
  prefix: 'lines.',
  schema: { name: 'specs.folded.v1', indexed: ['list'], sort: 'sort' },
  keep: { by: 'list', newest: 50 },
  interpret: ({ key, value }) => ({ kind: 'put', docs: [{ id: `${key}/${value}`, list: key, sort: value }] }),
  ofKey: (key) => [{ list: key }],
};

const record = (offset: number, value: string, origin?: LaneOrigin): StoredRecord => ({
  topic: 'lines.a',
  lane: 'lines.a',
  key: 'a',
  headers: {},
  value,
  offset,
  timestamp: 0,
  size: 1,
  ...(origin && { origin }),
});

const foldOf = async (readModels: InMemoryReadModels, projection = lines): Promise<StreamFold> => {
  const { active: generation } = await readModels.register(projection.schema);
  const forgotten = new ForgottenKeys(readModels, projection.schema);
  const [lanes, log] = [lanesOfOneProcess(readModels), { read: async () => [] }];
  return new StreamFold({ projection, readModels, lanes, log, forgotten, generation });
};

/** Applies the first records. A new owner that reads the stored state then applies the others. */
const folded = async (first: readonly StoredRecord[], then: readonly StoredRecord[]): Promise<string[]> => {
  const readModels = new InMemoryReadModels();
  for (const records of [first, then]) {
    await (await foldOf(readModels)).apply(records);
  }
  const { docs } = await readModels.page<Line>(lines.schema, { where: { list: 'a' }, limit: 100 });
  return docs.map(({ sort }) => sort).sort();
};

describe('records at an offset that was applied before', () => {
  it.each<[string, LaneOrigin | undefined, LaneOrigin | undefined, boolean]>([
    ['are skipped when they are the same ones', { id: 'one', epoch: 2 }, { id: 'one', epoch: 2 }, false],
    ['are skipped in a log that never gives one out twice', undefined, undefined, false],
    ['are applied when they took the place of lost ones', { id: 'one', epoch: 2 }, { id: 'one', epoch: 3 }, true],
    ['are applied when their topic was created anew', { id: 'one', epoch: 2 }, { id: 'two', epoch: 0 }, true],
  ])('%s', async (_, before, now, applied) => {
    const shown = await folded([record(0, 'a', before), record(1, 'b', before)], [record(1, 'c', now)]);
    expect(shown).toEqual(applied ? ['a', 'b', 'c'] : ['a', 'b']);
  });
});

describe('a record of several documents', () => {
  const words: StreamProjection<Line> = {
    ...lines,
    keep: { by: 'list', newest: 2 },
    interpret: ({ key, value }) => ({
      kind: 'put',
      docs: value.split(' ').map((word) => ({ id: `${key}/${word}`, list: key, sort: word })),
    }),
  };

  it('counts as all of them, so that the projector gathers longer, and only the newest are kept', async () => {
    const readModels = new InMemoryReadModels();
    const fold = await foldOf(readModels, words);
    expect(await fold.apply([record(0, 'a b c'), record(1, 'd')])).toBe(4);
    expect(await fold.apply([record(0, 'a b c'), record(1, 'd')])).toBe(0);
    const { docs } = await readModels.page<Line>(words.schema, { where: { list: 'a' }, limit: 100 });
    expect(docs.map(({ sort }) => sort).sort()).toEqual(['c', 'd']);
  });
});
