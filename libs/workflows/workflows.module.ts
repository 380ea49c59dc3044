import { Module, type DynamicModule } from '@nestjs/common';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { BLOBS, CLOCK, EVENT_STORE, HANDLE_COMMAND, READ_MODELS, UPCASTERS, VAULT } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { type Vault } from '#libs/kernel/vault.js';
import { ChangesOfWorkflows } from './changes-of-workflows.js';
import { CompareVersionsController } from './compare-versions/compare-versions.controller.js';
import { CreateWorkflowController } from './create-workflow/create-workflow.controller.js';
import { CreateWorkflowHandler } from './create-workflow/create-workflow.handler.js';
import { DefinitionChecks } from './definition-checks.js';
import { DeleteWorkflowController } from './delete-workflow/delete-workflow.controller.js';
import { DeleteWorkflowHandler } from './delete-workflow/delete-workflow.handler.js';
import { DeployDraftController } from './deploy-draft/deploy-draft.controller.js';
import { DeployDraftHandler } from './deploy-draft/deploy-draft.handler.js';
import { Deployments } from './deployments.js';
import { DiscardDraftController } from './discard-draft/discard-draft.controller.js';
import { DiscardDraftHandler } from './discard-draft/discard-draft.handler.js';
import { ExternalIds } from './external-ids.js';
import { FormerVersions } from './former-versions.js';
import { GetWorkflowSchemaController } from './get-workflow-schema/get-workflow-schema.controller.js';
import { GetWorkflowController } from './get-workflow/get-workflow.controller.js';
import { GetWorkflowHandler } from './get-workflow/get-workflow.query.js';
import { ListVersionsController } from './list-versions/list-versions.controller.js';
import { WORKFLOW_LIMITS, type WorkflowLimits } from './limits.js';
import { ListWorkflowsController } from './list-workflows/list-workflows.controller.js';
import { ListWorkflowsHandler } from './list-workflows/list-workflows.query.js';
import { StepPlans } from './plan-steps.js';
import {
  DEFINITION_READER,
  type DefinitionReader,
  ENDPOINT_URLS,
  type EndpointUrls,
  TIMER_SCHEDULES,
  type TimerSchedules,
  TRIGGER_REFERENCES,
  type TriggerReferences,
  WORKFLOW_STATS,
  WORKFLOW_SUBSCRIPTIONS,
  type WorkflowStats,
  type WorkflowSubscriptions,
  WORKFLOW_TOPICS,
  WORKFLOW_VERSIONS,
  type WorkflowVersions,
} from './ports.js';
import { type WorkflowTopics } from './published.js';
import { RollBackWorkflowController } from './roll-back-workflow/roll-back-workflow.controller.js';
import { RollBackWorkflowHandler } from './roll-back-workflow/roll-back-workflow.handler.js';
import { ShownWorkflows } from './shown-workflows.js';
import { SourceSecrets } from './source-secrets.js';
import { TriggerSources } from './trigger-sources.js';
import { UpdateWorkflowController } from './update-workflow/update-workflow.controller.js';
import { UpdateWorkflowHandler } from './update-workflow/update-workflow.handler.js';
import { ValidateWorkflowController } from './validate-workflow/validate-workflow.controller.js';
import { ValidateWorkflowHandler } from './validate-workflow/validate-workflow.handler.js';
import { LocateWorkflow } from './workflow-in-path.js';

export interface WorkflowsPorts {
  readonly handleCommand: HandleCommand;
  readonly events: EventStore;
  readonly upcasters: Upcasters;
  readonly readModels: ReadModelStore;
  readonly vault: Vault;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly endpointUrls: EndpointUrls;
  readonly definitionReader: DefinitionReader;
  readonly timerSchedules: TimerSchedules;
  readonly triggerReferences: TriggerReferences;
  readonly workflowTopics: WorkflowTopics;
  readonly workflowVersions: WorkflowVersions;
  readonly workflowStats: WorkflowStats;
  readonly workflowSubscriptions: WorkflowSubscriptions;
  readonly resourceLimits?: WorkflowLimits;
}

/** Needs COMPONENT_CATALOG, which ComponentsModule publishes, and PROP_CHECKS and ACTION_PLANS of SourcesModule. */
@Module({
  controllers: [
    // Before the routes of one workflow, whose ids the others would be.
    GetWorkflowSchemaController,
    ValidateWorkflowController,
    ListWorkflowsController,
    CreateWorkflowController,
    GetWorkflowController,
    ListVersionsController,
    CompareVersionsController,
    UpdateWorkflowController,
    DeployDraftController,
    DiscardDraftController,
    RollBackWorkflowController,
    DeleteWorkflowController,
  ],
  providers: [
    DefinitionChecks,
    StepPlans,
    SourceSecrets,
    TriggerSources,
    Deployments,
    FormerVersions,
    ChangesOfWorkflows,
    ExternalIds,
    LocateWorkflow,
    ShownWorkflows,
    ValidateWorkflowHandler,
    CreateWorkflowHandler,
    UpdateWorkflowHandler,
    DeployDraftHandler,
    DiscardDraftHandler,
    RollBackWorkflowHandler,
    DeleteWorkflowHandler,
    GetWorkflowHandler,
    ListWorkflowsHandler,
  ],
})
export class WorkflowsModule {
  static forRoot(ports: WorkflowsPorts): DynamicModule {
    return {
      module: WorkflowsModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: EVENT_STORE, useValue: ports.events },
        { provide: UPCASTERS, useValue: ports.upcasters },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: VAULT, useValue: ports.vault },
        { provide: BLOBS, useValue: ports.blobs },
        { provide: CLOCK, useValue: ports.clock },
        { provide: ENDPOINT_URLS, useValue: ports.endpointUrls },
        { provide: DEFINITION_READER, useValue: ports.definitionReader },
        { provide: TIMER_SCHEDULES, useValue: ports.timerSchedules },
        { provide: TRIGGER_REFERENCES, useValue: ports.triggerReferences },
        { provide: WORKFLOW_STATS, useValue: ports.workflowStats },
        { provide: WORKFLOW_SUBSCRIPTIONS, useValue: ports.workflowSubscriptions },
        { provide: WORKFLOW_TOPICS, useValue: ports.workflowTopics },
        { provide: WORKFLOW_VERSIONS, useValue: ports.workflowVersions },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? WORKFLOW_LIMITS },
      ],
    };
  }
}
