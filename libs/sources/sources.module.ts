import { Global, Module, type DynamicModule } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import {
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
import { AppHookPlans } from './app-hook-plans.js';
import { BoundDataStores } from './bound-data-stores.js';
import { DeleteSourceController } from './delete-source/delete-source.controller.js';
import { DeleteSourceHandler } from './delete-source/delete-source.handler.js';
import { SourceDeletions } from './delete-source/source-deletions.js';
import { DeploySourceController } from './deploy-source/deploy-source.controller.js';
import { DeploySourceHandler } from './deploy-source/deploy-source.handler.js';
import { SourceDeployments } from './deploy-source/source-deployments.js';
import { EmitSampleController } from './emit-sample/emit-sample.controller.js';
import { EmitSampleHandler } from './emit-sample/emit-sample.handler.js';
import { GetSourceController } from './get-source/get-source.controller.js';
import { GetSourceHandler } from './get-source/get-source.query.js';
import { ListSourcesController } from './list-sources/list-sources.controller.js';
import { ListSourcesHandler } from './list-sources/list-sources.query.js';
import { SelectedSources } from './list-sources/selected-sources.js';
import { LocateSource } from './locate-source.js';
import { NameSlugs } from './name-slugs.js';
import { SourcesOfWorkflows } from './owned-sources.js';
import { RunSourceController } from './run-source/run-source.controller.js';
import { RunSourceHandler } from './run-source/run-source.handler.js';
import { SendAppEventController } from './send-app-event/send-app-event.controller.js';
import { SendAppEventHandler } from './send-app-event/send-app-event.handler.js';
import { SourceDynamicProps } from './source-dynamic-props.js';
import { SourceOperations } from './source-operations.js';
import { ShownSources } from './source-records.js';
import { SourceRoom } from './source-room.js';
import { SourceUpdates } from './update-source/source-updates.js';
import { UpdateSourceController } from './update-source/update-source.controller.js';
import { UpdateSourceHandler } from './update-source/update-source.handler.js';
import { type EndpointUrls } from './domain/endpoint-urls.js';
import {
  type Accounts,
  ACCOUNTS,
  APP_EVENTS,
  type AppEvents,
  ENDPOINT_URLS,
  HOOK_RUNNER,
  type KnownSourceStates,
  MANUAL_RUNS,
  type ManualRuns,
  OWNER_CHANGES,
  type OwnerChanges,
  SOURCE_COUNTS,
  SOURCE_STATES,
  SOURCE_TOPICS,
  SOURCE_DBS,
  type SourceDbs,
  type SourceCountsReader,
  TIMER_SCHEDULES,
  type TimerSchedules,
} from './ports.js';
import { GetDbController } from './get-db/get-db.controller.js';
import { PlannedPropChecks } from './check-props.js';
import { PlannedActions } from './plan-action.js';
import {
  ACTION_PLANS,
  OWNED_SOURCES,
  PROP_CHECKS,
  SOURCE_RECORDS,
  type HookRunner,
  type SourceTopics,
} from './published.js';
import { SOURCE_LIMITS, type SourceLimits } from './limits.js';

export interface SourcesPorts {
  readonly handleCommand: HandleCommand;
  readonly events: EventStore;
  readonly upcasters: Upcasters;
  readonly readModels: ReadModelStore;
  readonly readYourWrites: ReadYourWrites;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly hookRunner: HookRunner;
  readonly sourceTopics: SourceTopics;
  readonly endpointUrls: EndpointUrls;
  readonly manualRuns: ManualRuns;
  readonly ownerChanges: OwnerChanges;
  readonly appEvents: AppEvents;
  readonly sourceDbs: SourceDbs;
  readonly sourceStates: KnownSourceStates;
  readonly sourceCounts: SourceCountsReader;
  readonly timerSchedules: TimerSchedules;
  /** Default: there are none. */
  readonly accounts?: Accounts;
  readonly resourceLimits?: SourceLimits;
}

/**
 * Needs COMPONENT_CATALOG of ComponentsModule and DATA_STORE_CATALOG of DataStoresModule. Global, because it publishes
 * ACTION_PLANS to the actions context, and PROP_CHECKS to that of workflows.
 */
@Global()
@Module({
  controllers: [
    DeploySourceController,
    GetSourceController,
    GetDbController,
    ListSourcesController,
    UpdateSourceController,
    DeleteSourceController,
    RunSourceController,
    EmitSampleController,
    SendAppEventController,
  ],
  providers: [
    SourceOperations,
    NameSlugs,
    AppHookPlans,
    BoundDataStores,
    { provide: ACTION_PLANS, useClass: PlannedActions },
    { provide: PROP_CHECKS, useClass: PlannedPropChecks },
    { provide: OWNED_SOURCES, useClass: SourcesOfWorkflows },
    { provide: SOURCE_RECORDS, useClass: ShownSources },
    LocateSource,
    SourceDynamicProps,
    SourceRoom,
    SourceDeployments,
    SourceUpdates,
    SourceDeletions,
    DeploySourceHandler,
    UpdateSourceHandler,
    DeleteSourceHandler,
    RunSourceHandler,
    EmitSampleHandler,
    SendAppEventHandler,
    GetSourceHandler,
    ListSourcesHandler,
    SelectedSources,
  ],
  exports: [ACTION_PLANS, PROP_CHECKS, OWNED_SOURCES, SOURCE_RECORDS],
})
export class SourcesModule {
  static forRoot(ports: SourcesPorts): DynamicModule {
    return {
      module: SourcesModule,
      providers: [
        { provide: SOURCE_STATES, useValue: ports.sourceStates },
        { provide: SOURCE_COUNTS, useValue: ports.sourceCounts },
        { provide: TIMER_SCHEDULES, useValue: ports.timerSchedules },
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: EVENT_STORE, useValue: ports.events },
        { provide: UPCASTERS, useValue: ports.upcasters },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: READ_YOUR_WRITES, useValue: ports.readYourWrites },
        { provide: VAULT, useValue: ports.vault },
        { provide: CLOCK, useValue: ports.clock },
        { provide: HOOK_RUNNER, useValue: ports.hookRunner },
        { provide: SOURCE_TOPICS, useValue: ports.sourceTopics },
        { provide: ENDPOINT_URLS, useValue: ports.endpointUrls },
        { provide: ACCOUNTS, useValue: ports.accounts ?? { find: () => undefined } },
        { provide: OWNER_CHANGES, useValue: ports.ownerChanges },
        { provide: MANUAL_RUNS, useValue: ports.manualRuns },
        { provide: APP_EVENTS, useValue: ports.appEvents },
        { provide: SOURCE_DBS, useValue: ports.sourceDbs },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? SOURCE_LIMITS },
      ],
    };
  }
}
