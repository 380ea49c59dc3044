import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { OWNED_SOURCES, type OwnedSources } from '#libs/sources/published.js';
import { DefinitionChecks, type GivenDefinition } from '../definition-checks.js';
import { Deployments, type PlannedVersion } from '../deployments.js';
import { type JsonObject } from '../domain/check-shape.js';
import { textIn } from '../domain/definition-rules.js';
import { workflowDecider } from '../domain/workflow.js';
import { ExternalIds, externalIdTaken, stepOf } from '../external-ids.js';
import { type WorkflowLimits } from '../limits.js';
import { WORKFLOW_TOPICS } from '../ports.js';
import { type WorkflowFace, type WorkflowTopics } from '../published.js';
import { WORKFLOWS } from '../read-models/workflows.projection.js';
import {
  type Beside,
  cancelsRuns,
  givenFace,
  savesDraft,
  type SavedWorkflow,
  savedWorkflow,
} from '../saved-workflow.js';

export class CreateWorkflow extends Command<SavedWorkflow> {
  constructor(
    readonly given: GivenDefinition,
    /** What `given` holds, read. */
    readonly definition: JsonObject,
    readonly beside: Beside,
    readonly context: CommandContext,
  ) {
    super();
  }
}

interface Creation extends Pick<CreateWorkflow, 'definition' | 'beside' | 'context'> {
  readonly externalId: string | undefined;
}

/**
 * Creates a workflow, and deploys it or saves its draft. Throws request.invalid_parameter, workflow.invalid_definition, workflow.external_id_taken,
 * workspace.limit_reached, and workflow.busy when another request creates one under the same external id.
 */
@CommandHandler(CreateWorkflow)
export class CreateWorkflowHandler implements ICommandHandler<CreateWorkflow> {
  constructor(
    private readonly checks: DefinitionChecks,
    private readonly deployments: Deployments,
    private readonly externalIds: ExternalIds,
    @Inject(OWNED_SOURCES) private readonly owned: OwnedSources,
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: WorkflowLimits,
    @Inject(WORKFLOW_TOPICS) private readonly topics: Pick<WorkflowTopics, 'create'>,
  ) {}

  async execute({ given, definition, beside, context }: CreateWorkflow): Promise<SavedWorkflow> {
    // A new workflow has no runs. The rule is the same, so that one request creates and changes.
    cancelsRuns(definition, beside);
    const isDraft = savesDraft(definition, beside);
    await this.mustHaveRoom(context.workspaceId);
    const checked = await this.checks.check(given, definition, { strict: beside.strict === true, context });
    const externalId = textIn(definition, 'external_id');
    const taken = externalId && (await this.externalIds.find(externalId, context.workspaceId));
    if (externalId && taken) throw externalIdTaken(externalId, taken);

    let workflowId = newId('p', this.clock.now());
    for (;;) {
      const request = { workflowId, given, checked, before: undefined, refresh: false, isDraft, context };
      const created = await this.deployments.planned(request, async (planned) => {
        const holder = externalId === undefined ? workflowId : await this.hold(externalId, workflowId, context);
        if (holder !== workflowId) return holder;
        const creation = { definition, beside, externalId, context };
        return isDraft ? this.drafted(workflowId, planned, creation) : this.created(workflowId, planned, creation);
      });
      if (typeof created !== 'string') return created;
      // Another creation under this external id has not ended. Ids of triggers and steps are derived from its id.
      workflowId = created;
    }
  }

  private async hold(externalId: string, workflowId: string, context: CommandContext): Promise<string> {
    const holder = await this.externalIds.hold(externalId, workflowId, true, context);
    const { status } = await this.externalIds.stateOf(holder, context.workspaceId);
    if (status === 'exists') throw externalIdTaken(externalId, holder);
    return holder;
  }

  private async created(
    workflowId: string,
    planned: PlannedVersion,
    { definition, beside, externalId, context }: Creation,
  ): Promise<SavedWorkflow> {
    const face = { ...newFace(externalId), ...givenFace(definition, beside) };
    const { userId } = context.actor;
    const { sources, warnings } = planned;
    const change = { workflowId, sources, removed: [], active: face.active, ignoreHookErrors: false, context };
    return this.owned.carryOut(change, async (step) => {
      const { deployment, stored } = await this.deployments.store(workflowId, 1, planned, context);
      // Before anyone can learn its addresses.
      await this.topics.create(workflowId);
      const first = { deployment };
      const command = { type: 'Create', workflowId, userId, face, first, now: this.clock.now() } as const;
      const result = await this.handle(workflowDecider, workflowId, command, step);
      return savedWorkflow(result, { stored, warnings, workspaceId: context.workspaceId });
    });
  }

  private async drafted(
    workflowId: string,
    planned: PlannedVersion,
    { definition, beside, externalId, context }: Creation,
  ): Promise<SavedWorkflow> {
    const { active, ...given } = givenFace(definition, beside);
    const face = { ...newFace(externalId), ...given, active: false };
    const { userId } = context.actor;
    const later = active === undefined ? {} : { active };
    const { draft, stored } = await this.deployments.storeDraft(workflowId, planned, later, context);
    await this.topics.create(workflowId);
    const command = { type: 'Create', workflowId, userId, face, first: { draft }, now: this.clock.now() } as const;
    const result = await this.handle(workflowDecider, workflowId, command, stepOf(context));
    const { warnings } = planned;
    return savedWorkflow(result, { stored, isDraft: true, warnings, workspaceId: context.workspaceId });
  }

  private mustHaveRoom(workspaceId: string): Promise<void> {
    const limit = this.limits.workflowsPerWorkspace;
    const counted = { what: 'workflows', owner: 'workspace', limit, setting: 'SLUICE_MAX_WORKFLOWS' } as const;
    return checkRoom(this.readModels, WORKFLOWS, { workspaceId }, counted);
  }
}

const newFace = (externalId: string | undefined): WorkflowFace => ({
  name: externalId ?? '',
  description: null,
  externalId: externalId ?? null,
  managedBy: null,
  active: true,
});
