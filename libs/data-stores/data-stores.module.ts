import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, EVENT_STORE, HANDLE_COMMAND, READ_MODELS, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { CreateDataStoreController } from './create-data-store/create-data-store.controller.js';
import { CreateDataStoreHandler } from './create-data-store/create-data-store.handler.js';
import { DataStoreNames } from './data-store-names.js';
import { type DataStoreRecords } from './data-store-records.js';
import { DeleteDataStoreController } from './delete-data-store/delete-data-store.controller.js';
import { DeleteDataStoreHandler } from './delete-data-store/delete-data-store.handler.js';
import { GetDataStoreController } from './get-data-store/get-data-store.controller.js';
import { GetDataStoreHandler } from './get-data-store/get-data-store.query.js';
import { ListDataStoresController } from './list-data-stores/list-data-stores.controller.js';
import { ListDataStoresHandler } from './list-data-stores/list-data-stores.query.js';
import { DATA_STORE_RECORDS } from './ports.js';
import { DATA_STORE_CATALOG } from './published.js';
import { RecordsController } from './records/records.controller.js';
import { RenameDataStoreController } from './rename-data-store/rename-data-store.controller.js';
import { RenameDataStoreHandler } from './rename-data-store/rename-data-store.handler.js';
import { StoredDataStoreCatalog } from './stored-data-store-catalog.js';
import { DATA_STORE_LIMITS, type DataStoreLimits } from './limits.js';

export interface DataStoresPorts {
  readonly handleCommand: HandleCommand;
  readonly events: EventStore;
  readonly upcasters: Upcasters;
  readonly readModels: ReadModelStore;
  readonly records: DataStoreRecords;
  readonly clock: Clock;
  readonly resourceLimits?: DataStoreLimits;
}

/** Global, because it publishes DATA_STORE_CATALOG to other contexts. */
@Global()
@Module({
  controllers: [
    CreateDataStoreController,
    ListDataStoresController,
    GetDataStoreController,
    RenameDataStoreController,
    DeleteDataStoreController,
    RecordsController,
  ],
  providers: [
    DataStoreNames,
    CreateDataStoreHandler,
    RenameDataStoreHandler,
    DeleteDataStoreHandler,
    GetDataStoreHandler,
    ListDataStoresHandler,
    { provide: DATA_STORE_CATALOG, useClass: StoredDataStoreCatalog },
  ],
  exports: [DATA_STORE_CATALOG],
})
export class DataStoresModule {
  static forRoot(ports: DataStoresPorts): DynamicModule {
    return {
      module: DataStoresModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: EVENT_STORE, useValue: ports.events },
        { provide: UPCASTERS, useValue: ports.upcasters },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: DATA_STORE_RECORDS, useValue: ports.records },
        { provide: CLOCK, useValue: ports.clock },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? DATA_STORE_LIMITS },
      ],
    };
  }
}
