import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { type Warning } from '#libs/kernel/warning.js';
import { OWNED_SOURCES, type OwnedSources, type OwnedSourcesChange } from '#libs/sources/published.js';
import { DefinitionChecks, type GivenDefinition } from '../definition-checks.js';
import { Deployments, isInForce, type PlannedVersion, type VersionInForce } from '../deployments.js';
import { type JsonObject } from '../domain/check-shape.js';
import { CHANGES, changedSettings } from '../domain/changes.js';
import {
  busyAsWorkflow,
  type Changes,
  workflowBusy,
  workflowDecider,
  workflowNotFound,
  type WorkflowRecord,
} from '../domain/workflow.js';
import { ExternalIds, externalIdTaken, stepOf } from '../external-ids.js';
import { ownedSourcesOf } from '../trigger-sources.js';
import { type Beside, cancelsRuns, givenFace, type SavedWorkflow, savedWorkflow } from '../saved-workflow.js';

export class UpdateWorkflow extends Command<SavedWorkflow> {
  constructor(
    readonly workflowId: string,
    readonly given: GivenDefinition,
    /** What `given` holds, read. */
    readonly definition: JsonObject,
    readonly beside: Beside,
    readonly context: CommandContext,
  ) {
    super();
  }
}

interface Change {
  readonly changes: Changes;
  /** The version to deploy. Undefined when the one in force stays. */
  readonly planned: PlannedVersion | undefined;
  readonly ignoreHookErrors: boolean;
  readonly warnings: readonly Warning[];
}

/**
 * Replaces the definition, or changes what is given (docs/reference/workflows.md#update). Throws
 * workflow.invalid_definition, workflow.not_found, workflow.busy, workflow.external_id_taken,
 * request.missing_parameter, source.hook_failed.
 */
@CommandHandler(UpdateWorkflow)
export class UpdateWorkflowHandler implements ICommandHandler<UpdateWorkflow> {
  constructor(
    private readonly checks: DefinitionChecks,
    private readonly deployments: Deployments,
    private readonly externalIds: ExternalIds,
    @Inject(OWNED_SOURCES) private readonly owned: OwnedSources,
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute(command: UpdateWorkflow): Promise<SavedWorkflow> {
    return busyAsWorkflow(command.workflowId, this.run(command));
  }

  private async run(command: UpdateWorkflow): Promise<SavedWorkflow> {
    const { workflowId, definition, context } = command;
    const workflow = await this.current(workflowId, context);
    const before = await this.deployments.inForce(workflow);
    if (!before) throw workflowBusy(workflowId);
    if (Object.hasOwn(definition, 'steps')) return this.replaced(command, before);
    return this.carriedOut(workflowId, await this.changed(command, before), before, context);
  }

  /** Reads the workflow, and refuses a request that was made from another revision before anything is stored for it. */
  private async current(workflowId: string, context: CommandContext): Promise<WorkflowRecord> {
    const { status } = await this.externalIds.stateOf(workflowId, context.workspaceId);
    if (status !== 'exists') throw workflowNotFound(workflowId);
    const nothing = { type: 'Change', changes: {}, now: this.clock.now() } as const;
    const { state } = await this.handle(workflowDecider, workflowId, nothing, stepOf(context));
    if (state.status !== 'exists') throw workflowNotFound(workflowId);
    return state.workflow;
  }

  private async replaced(
    { workflowId, given, definition, beside, context }: UpdateWorkflow,
    before: VersionInForce,
  ): Promise<SavedWorkflow> {
    const named = { name: before.workflow.name, ...definition };
    const refresh = definition['refresh'] === true || beside.refresh === true;
    const options = { strict: beside.strict === true, context, before: before.stored };
    const checked = await this.checks.check(given, refresh ? { ...named, refresh } : named, options);
    const request = { workflowId, given, checked, before, refresh, context };
    return this.deployments.planned(request, (planned) => {
      const changes = { description: null, ...givenFace(definition, beside), ...cancelsRuns(definition, beside) };
      const ignoreHookErrors = ignoresHookErrors(definition, beside);
      const change = { changes, planned: isInForce(planned, before) ? undefined : planned, ignoreHookErrors };
      return this.carriedOut(workflowId, { ...change, warnings: planned.warnings }, before, context);
    });
  }

  private async changed({ given, definition, beside }: UpdateWorkflow, before: VersionInForce): Promise<Change> {
    const warnings = await this.checks.checkAs(CHANGES, given, definition, beside.strict === true);
    const face = givenFace(definition, beside);
    const nulls = Object.fromEntries(
      (['description', 'external_id'] as const).flatMap((key) =>
        definition[key] === null ? [[key === 'description' ? key : 'externalId', null]] : [],
      ),
    );
    const changes: Changes = { ...nulls, ...face, ...cancelsRuns(definition, beside) };
    const settings = changedSettings(before.stored.definition, definition['settings']);
    if (Object.keys(changes).length === 0 && settings === undefined)
      throw new DomainError(
        'request.missing_parameter',
        'nothing to change: give steps for a whole definition, or one of name, description, external_id, active, managed_by and settings',
        { field: 'steps' },
      );
    const ignoreHookErrors = ignoresHookErrors(definition, beside);
    if (settings === undefined) return { changes, planned: undefined, ignoreHookErrors, warnings };
    const { deployed, components, sources: storedSources } = before.stored;
    const planned: PlannedVersion = {
      definition: settings,
      triggers: before.workflow.deployed?.triggers ?? [],
      steps: deployed.steps,
      components,
      sources: ownedSourcesOf(before.workflow),
      storedSources,
      secrets: [],
      warnings,
      keep: () => Promise.resolve(),
    };
    return { changes, planned: isInForce(planned, before) ? undefined : planned, ignoreHookErrors, warnings };
  }

  private async carriedOut(
    workflowId: string,
    { changes, planned, ignoreHookErrors, warnings }: Change,
    { workflow, stored }: VersionInForce,
    context: CommandContext,
  ): Promise<SavedWorkflow> {
    const { externalId = workflow.externalId } = changes;
    if (externalId !== null && externalId !== workflow.externalId) {
      const holder = await this.externalIds.hold(externalId, workflowId, false, context);
      if (holder !== workflowId) throw externalIdTaken(externalId, holder);
    }
    const { workspaceId } = context;
    const saved = await this.owned.carryOut(
      { workflowId, ...sourcesAfter(workflow, planned, changes), ignoreHookErrors, context },
      async (step) => {
        if (planned) return this.deployed(workflowId, planned, changes, workflow, step);
        const command = { type: 'Change', changes, now: this.clock.now() } as const;
        return savedWorkflow(await this.handle(workflowDecider, workflowId, command, step), {
          stored,
          warnings,
          workspaceId,
        });
      },
    );
    if (workflow.externalId !== null && workflow.externalId !== externalId)
      await this.externalIds.release(workflow.externalId, workflowId, context);
    return saved;
  }

  private async deployed(
    workflowId: string,
    planned: PlannedVersion,
    changes: Changes,
    workflow: WorkflowRecord,
    step: CommandContext,
  ): Promise<SavedWorkflow> {
    const basedOn = workflow.deployed?.version ?? 0;
    const { deployment, stored } = await this.deployments.store(workflowId, basedOn + 1, planned, step);
    const command = { type: 'Deploy', deployment, basedOn, changes, now: this.clock.now() } as const;
    const result = await this.handle(workflowDecider, workflowId, command, step);
    return savedWorkflow(result, { stored, warnings: planned.warnings, workspaceId: step.workspaceId });
  }
}

/** The workflow's own sources after the change. */
const sourcesAfter = (
  workflow: WorkflowRecord,
  planned: PlannedVersion | undefined,
  { active = workflow.active }: Changes,
): Pick<OwnedSourcesChange, 'sources' | 'removed' | 'active'> => {
  const before = ownedSourcesOf(workflow);
  const { sources = before } = planned ?? {};
  const removed = before.filter((each) => !sources.some(({ sourceId }) => sourceId === each.sourceId));
  return { sources, removed, active };
};

const ignoresHookErrors = (definition: JsonObject, beside: Beside): boolean =>
  definition['ignore_hook_errors'] === true || beside.ignore_hook_errors === true;
