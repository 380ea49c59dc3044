import { auditable } from '#libs/kernel/auditable.js';
import { type Context } from '#libs/kernel/context.js';
import { DataStoreCleanUpReactor } from './clean-up/data-store-clean-up.reactor.js';
import { type DataStoreRecords } from './data-store-records.js';
import { DataStoresModule, type DataStoresPorts } from './data-stores.module.js';
import { DataStoresView } from './data-stores-view.js';
import { dataStore } from './domain/data-store.js';
import { DATA_STORE_LIMITS } from './limits.js';
import { type DataStoreEvent } from './published.js';
import { dataStoresProjection } from './read-models/data-stores.projection.js';

export const dataStoresContext = {
  projections: [dataStoresProjection],
  views: () => ({ dataStores: new DataStoresView() }),
  reactors: {
    'data-stores': ({ records }: { readonly records: DataStoreRecords }) => new DataStoreCleanUpReactor(records),
  },

  ids: ['ds'],
  limits: DATA_STORE_LIMITS,
  auditable: [auditable('ds', dataStore)],
  workspaceAudit: [dataStore.category],
  holds: {
    what: 'data store',
    from: 'DataStoreCreated' satisfies DataStoreEvent['type'],
    until: 'DataStoreDeleted' satisfies DataStoreEvent['type'],
  },
  module: (ports: DataStoresPorts) => DataStoresModule.forRoot(ports),
} as const satisfies Context;
