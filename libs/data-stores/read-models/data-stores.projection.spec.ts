import { describe, expect, it } from '@jest/globals';
import { type DomainEvent } from '#libs/kernel/events.js';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { history, recorded } from '#libs/kernel/testing/recorded.js';
import { DataStoresView } from '../data-stores-view.js';
import { dataStoresProjection } from './data-stores.projection.js';

const stream = 'datastore-ds_1';
const created: DomainEvent = {
  type: 'DataStoreCreated',
  data: { storeId: 'ds_1', userId: 'u_1', name: 'orders', createdAt: 1_700_000_000_000 },
};
const renamed: DomainEvent = { type: 'DataStoreRenamed', data: { name: 'invoices', renamedAt: 1_700_000_001_000 } };
const deleted: DomainEvent = { type: 'DataStoreDeleted', data: { deletedAt: 1_700_000_002_000 } };
const doc = {
  id: 'ds_1',
  workspaceId: 'o_1',
  userId: 'u_1',
  name: 'orders',
  sort: '001700000000000',
  createdAt: '001700000000000',
  updatedAt: 1_700_000_000_000,
  revision: 0,
};
const of = (...events: readonly DomainEvent[]) => history(...events.map((event) => [stream, event] as const));

describe('data-stores.data-stores.v3', () => {
  it('shows a created data store', () => {
    projecting(dataStoresProjection).given(of(created)).numberOfTimes(2).then('ds_1', doc);
  });

  it('shows the new name of a renamed one, and since when', () => {
    projecting(dataStoresProjection)
      .given(of(created, renamed))
      .numberOfTimes(2)
      .then('ds_1', { ...doc, name: 'invoices', updatedAt: 1_700_000_001_000, revision: 1 });
  });

  it('drops a deleted one, which a late rename does not bring back', () => {
    projecting(dataStoresProjection).given(of(created, deleted)).numberOfTimes(2).then('ds_1', undefined);
    projecting(dataStoresProjection)
      .given(of(created, deleted, renamed))
      .then('ds_1', undefined);
  });

  it('reads the streams of data stores alone', () => {
    const name = { type: 'DataStoreNameReserved', data: { name: 'orders', storeId: 'ds_1', reservedAt: 1 } };
    expect(
      projecting(dataStoresProjection)
        .given(history(['datastorename-o_1/aa', name]))
        .docs().size,
    ).toBe(0);
  });
});

describe('the view of data stores', () => {
  const viewOf = (...events: readonly DomainEvent[]): DataStoresView => {
    const view = new DataStoresView();
    for (const event of of(...events)) view.apply(event);
    return view;
  };

  it('knows the workspace of an existing data store, and of no other', () => {
    const view = viewOf(created, renamed);
    view.apply(recorded('datastore-ds_2', created, { metadata: { workspaceId: 'o_2' } }));
    expect([view.ownerOf('ds_1'), view.ownerOf('ds_2'), view.ownerOf('ds_3')]).toEqual(['o_1', 'o_2', undefined]);
    expect(view.deleted()).toEqual([]);
  });

  it('remembers each deleted one once, for the sweeper', () => {
    const view = viewOf(created, deleted);
    view.apply(recorded(stream, deleted));
    expect([view.ownerOf('ds_1'), view.deleted()]).toEqual([undefined, ['ds_1']]);
  });
});
