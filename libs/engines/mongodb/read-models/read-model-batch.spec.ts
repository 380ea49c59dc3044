import { describe, expect, it } from '@jest/globals';
import { type Collection } from 'mongodb';
import { DocumentBatch } from './read-model-batch.js';
import { type StoredDoc } from './read-model-documents.js';

const schema = { name: 'things.v1', indexed: [], sort: 'sort' };

describe('DocumentBatch', () => {
  it('splits writes beyond the limit of one request into several, in order', async () => {
    const requests: string[][] = [];
    const collection = {
      bulkWrite: (operations: readonly { updateOne: { filter: { _id: string } } }[]): Promise<unknown> => {
        requests.push(operations.map(({ updateOne }) => updateOne.filter._id));
        return Promise.resolve({ matchedCount: operations.length });
      },
    } as unknown as Collection<StoredDoc>;
    const ids = Array.from({ length: 1_201 }, (_, n) => `d${n}`);
    await new DocumentBatch(collection, schema, 1, 0).write(
      ids.map((id) => ({ op: 'put', doc: { id, sort: id } }) as const),
    );
    expect(requests.map(({ length }) => length)).toEqual([500, 500, 201]);
    expect(requests.flat()).toEqual(ids);
  });
});
