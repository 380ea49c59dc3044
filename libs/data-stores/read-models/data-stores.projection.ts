import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { creationSort, creationSortOf } from '#libs/kernel/ids.js';
import { type Revised, withRevision } from '#libs/kernel/with-revision.js';
import { type DataStoreEvent } from '../published.js';

export interface DataStoreDoc extends Revised {
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string;
  /** Time of the id in fixed width, so that the id of a deleted data store still determines its place. */
  readonly sort: string;
  /** Epoch ms in fixed width. */
  readonly createdAt: string;
  /** Epoch ms. */
  readonly updatedAt: number;
}

/** Every event, because each changes the revision. */
const EVENTS = {
  DataStoreCreated: true,
  DataStoreRenamed: true,
  DataStoreDeleted: true,
} satisfies Record<DataStoreEvent['type'], true>;

export const dataStoresProjection = withRevision<DataStoreDoc>({
  name: 'data-stores.data-stores.v3',
  schema: {
    name: 'data-stores.data-stores.v3',
    indexed: ['workspaceId'],
    sort: 'sort',
    counted: [['workspaceId']],
  },
  keys: ({ type, stream }) => (Object.hasOwn(EVENTS, type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & DataStoreEvent;
    switch (event.type) {
      case 'DataStoreCreated': {
        const { userId, name, createdAt } = event.data;
        const { workspaceId } = event.metadata;
        const sort = creationSortOf('ds')(id) ?? creationSort(createdAt);
        return { id, workspaceId, userId, name, sort, createdAt: creationSort(createdAt), updatedAt: createdAt };
      }
      case 'DataStoreRenamed':
        return doc && { ...doc, name: event.data.name, updatedAt: event.data.renamedAt };
      case 'DataStoreDeleted':
        return undefined;
      default:
        return doc;
    }
  },
});
