import { Global, Module, type DynamicModule } from '@nestjs/common';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import {
  BLOBS,
  CLOCK,
  EVENT_STORE,
  HANDLE_COMMAND,
  READ_MODELS,
  READ_YOUR_WRITES,
  UPCASTERS,
  VAULT,
} from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { type Vault } from '#libs/kernel/vault.js';
import { CalledAdditionalProps } from './call-component/additional-props.js';
import { CallComponentController } from './call-component/call-component.controller.js';
import { ComponentForms } from './call-component/call-component.handler.js';
import { DynamicPropsStore } from './call-component/dynamic-props.js';
import { CalledEventNames } from './call-component/event-names.js';
import { StoredComponentCatalog } from './catalog.js';
import { DeleteComponentController } from './delete-component/delete-component.controller.js';
import { DeleteComponentHandler } from './delete-component/delete-component.handler.js';
import { GetComponentController } from './get-component/get-component.controller.js';
import { GetComponentHandler } from './get-component/get-component.query.js';
import { GetComponentPackagesHandler } from './get-component/get-packages.query.js';
import { AppsController } from './list-apps/apps.controller.js';
import { GetAppHandler, ListAppsHandler } from './list-apps/apps.query.js';
import { GetRegistryComponentController } from './get-registry-component/get-registry-component.controller.js';
import { GetRegistryComponentHandler } from './get-registry-component/get-registry-component.query.js';
import { ListComponentsController } from './list-components/list-components.controller.js';
import { ListComponentsHandler } from './list-components/list-components.query.js';
import { ListPackageUsersController } from './list-package-users/list-package-users.controller.js';
import { ListPackageUsersHandler } from './list-package-users/list-package-users.query.js';
import { ADDITIONAL_PROPS, COMPONENT_CATALOG, COMPONENT_OPTIONS, EVENT_NAMES } from './published.js';
import { RegistrySync } from './registry/registry-sync.js';
import { SaveComponentController } from './save-component/save-component.controller.js';
import { SaveComponentHandler } from './save-component/save-component.handler.js';
import { SearchRegistryController } from './search-registry/search-registry.controller.js';
import { SearchRegistryHandler } from './search-registry/search-registry.query.js';
import {
  CODE_LIMITS,
  type CodeLimits,
  COMPONENT_CALLS,
  COMPONENT_FETCHER,
  COMPONENT_INSPECTOR,
  COMPONENT_USERS,
  type ComponentCalls,
  type ComponentFetcher,
  type ComponentInspector,
  type ComponentUsers,
  DEFAULT_CODE_LIMITS,
  DEFAULT_INSPECTION_LIMITS,
  INSPECTION_LIMITS,
  type InspectionLimits,
} from './ports.js';
import { COMPONENT_LIMITS, type ComponentLimits } from './limits.js';

export interface ComponentsPorts {
  readonly handleCommand: HandleCommand;
  readonly events: EventStore;
  readonly upcasters: Upcasters;
  readonly readModels: ReadModelStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly inspector: ComponentInspector;
  readonly fetcher: ComponentFetcher;
  readonly calls: ComponentCalls;
  readonly vault: Vault;
  readonly readYourWrites: ReadYourWrites;
  readonly componentUsers: ComponentUsers;
  readonly codeLimits?: CodeLimits;
  readonly inspectionLimits?: InspectionLimits;
  readonly resourceLimits?: ComponentLimits;
}

/** Global, because it publishes COMPONENT_CATALOG to other contexts. */
@Global()
@Module({
  // `registry` and `search` come before keys (docs/reference/rest-api.md#component-reserved-words).
  controllers: [
    SaveComponentController,
    CallComponentController,
    GetRegistryComponentController,
    SearchRegistryController,
    ListPackageUsersController,
    GetComponentController,
    ListComponentsController,
    DeleteComponentController,
    AppsController,
  ],
  providers: [
    SaveComponentHandler,
    GetComponentHandler,
    ListComponentsHandler,
    DeleteComponentHandler,
    GetRegistryComponentHandler,
    SearchRegistryHandler,
    RegistrySync,
    ComponentForms,
    DynamicPropsStore,
    CalledAdditionalProps,
    GetComponentPackagesHandler,
    ListPackageUsersHandler,
    ListAppsHandler,
    GetAppHandler,
    { provide: COMPONENT_CATALOG, useClass: StoredComponentCatalog },
    { provide: ADDITIONAL_PROPS, useExisting: CalledAdditionalProps },
    { provide: COMPONENT_OPTIONS, useExisting: ComponentForms },
    { provide: EVENT_NAMES, useClass: CalledEventNames },
  ],
  exports: [COMPONENT_CATALOG, ADDITIONAL_PROPS, COMPONENT_OPTIONS, EVENT_NAMES],
})
export class ComponentsModule {
  static forRoot(ports: ComponentsPorts): DynamicModule {
    return {
      module: ComponentsModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: EVENT_STORE, useValue: ports.events },
        { provide: UPCASTERS, useValue: ports.upcasters },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: BLOBS, useValue: ports.blobs },
        { provide: CLOCK, useValue: ports.clock },
        { provide: COMPONENT_INSPECTOR, useValue: ports.inspector },
        { provide: COMPONENT_CALLS, useValue: ports.calls },
        { provide: VAULT, useValue: ports.vault },
        { provide: READ_YOUR_WRITES, useValue: ports.readYourWrites },
        { provide: COMPONENT_USERS, useValue: ports.componentUsers },
        { provide: COMPONENT_FETCHER, useValue: ports.fetcher },
        { provide: CODE_LIMITS, useValue: ports.codeLimits ?? DEFAULT_CODE_LIMITS },
        { provide: INSPECTION_LIMITS, useValue: ports.inspectionLimits ?? DEFAULT_INSPECTION_LIMITS },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? COMPONENT_LIMITS },
      ],
    };
  }
}
