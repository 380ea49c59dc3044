import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { ChangesOfWorkflows, type WorkflowChange } from '../changes-of-workflows.js';
import { DefinitionChecks, type GivenDefinition } from '../definition-checks.js';
import { Deployments, type PlannedVersion, type VersionInForce } from '../deployments.js';
import { type JsonObject } from '../domain/check-shape.js';
import { CHANGES, changedSettings } from '../domain/changes.js';
import { busyAsWorkflow, type Changes, workflowBusy } from '../domain/workflow.js';
import { ownedSourcesOf } from '../trigger-sources.js';
import { type Beside, cancelsRuns, givenFace, type SavedWorkflow } from '../saved-workflow.js';

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
    private readonly changes: ChangesOfWorkflows,
  ) {}

  execute(command: UpdateWorkflow): Promise<SavedWorkflow> {
    return busyAsWorkflow(command.workflowId, this.run(command));
  }

  private async run(command: UpdateWorkflow): Promise<SavedWorkflow> {
    const { workflowId, definition, context } = command;
    const workflow = await this.changes.current(workflowId, context);
    const before = await this.deployments.inForce(workflow);
    if (!before) throw workflowBusy(workflowId);
    if (Object.hasOwn(definition, 'steps')) return this.replaced(command, before);
    return this.changes.carryOut(workflowId, await this.changed(command, before), before, context);
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
      const change = { changes, planned, ignoreHookErrors, warnings: planned.warnings };
      return this.changes.carryOut(workflowId, change, before, context);
    });
  }

  private async changed(
    { given, definition, beside }: UpdateWorkflow,
    before: VersionInForce,
  ): Promise<WorkflowChange> {
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
    return { changes, planned, ignoreHookErrors, warnings };
  }
}

const ignoresHookErrors = (definition: JsonObject, beside: Beside): boolean =>
  definition['ignore_hook_errors'] === true || beside.ignore_hook_errors === true;
