import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { ChangesOfWorkflows, type WorkflowChange } from '../changes-of-workflows.js';
import { DefinitionChecks, type GivenDefinition } from '../definition-checks.js';
import { Deployments, type PlannedVersion, type Present } from '../deployments.js';
import { type JsonObject } from '../domain/check-shape.js';
import { CHANGES, changedSettings } from '../domain/changes.js';
import { withOthersOf } from '../domain/stored-version.js';
import { busyAsWorkflow, type Changes, notDeployed, type WorkflowRecord } from '../domain/workflow.js';
import { type WorkflowFace } from '../published.js';
import { type Beside, cancelsRuns, givenFace, savesDraft, type SavedWorkflow } from '../saved-workflow.js';
import { ownedSourcesOf } from '../trigger-sources.js';

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
 * Replaces the definition, saves a draft, or changes what is given (docs/reference/workflows.md#update). Throws
 * workflow.invalid_definition, workflow.not_found, workflow.not_deployed, workflow.busy, workflow.external_id_taken,
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
    const { workflowId, definition, beside, context } = command;
    const present = await this.deployments.present(await this.changes.current(workflowId, context));
    const isDraft = savesDraft(definition, beside);
    if (Object.hasOwn(definition, 'steps')) return this.replaced(command, present, isDraft);
    if (isDraft) throw draftWithoutSteps();
    return this.changes.carryOut(await this.changed(command, present), present, context);
  }

  private async replaced(command: UpdateWorkflow, present: Present, isDraft: boolean): Promise<SavedWorkflow> {
    const { workflowId, given, definition, beside, context } = command;
    const { workflow, inForce, draft } = present;
    const named = { name: workflow.name, ...definition };
    const refresh = definition['refresh'] === true || beside.refresh === true;
    const before = isDraft ? withOthersOf(draft, inForce) : withOthersOf(inForce, draft);
    const options = { strict: beside.strict === true, context, before: before?.stored };
    const checked = await this.checks.check(given, refresh ? { ...named, refresh } : named, options);
    const request = { workflowId, given, checked, before, refresh, isDraft, context };
    return this.deployments.planned(request, (planned) => {
      const face = { description: null, ...givenFace(definition, beside) };
      if (isDraft) return this.changes.saveDraft({ planned, ...faceOfDraft(face, workflow) }, present, context);
      const changes = { ...face, ...cancelsRuns(definition, beside) };
      const ignoreHookErrors = ignoresHookErrors(definition, beside);
      const change = { changes, planned, ignoreHookErrors, warnings: planned.warnings };
      return this.changes.carryOut(change, present, context);
    });
  }

  private async changed(
    { given, definition, beside }: UpdateWorkflow,
    { workflow, inForce }: Present,
  ): Promise<WorkflowChange> {
    const warnings = await this.checks.checkAs(CHANGES, given, definition, beside.strict === true);
    const face = givenFace(definition, beside);
    const nulls = Object.fromEntries(
      (['description', 'external_id'] as const).flatMap((key) =>
        definition[key] === null ? [[key === 'description' ? key : 'externalId', null]] : [],
      ),
    );
    const changes: Changes = { ...nulls, ...face, ...cancelsRuns(definition, beside) };
    const settings = changedSettings(inForce?.stored.definition ?? {}, definition['settings']);
    if (Object.keys(changes).length === 0 && settings === undefined)
      throw new DomainError(
        'request.missing_parameter',
        'nothing to change: give steps for a whole definition, or one of name, description, external_id, active, managed_by and settings',
        { field: 'steps' },
      );
    const ignoreHookErrors = ignoresHookErrors(definition, beside);
    if (settings === undefined) return { changes, planned: undefined, ignoreHookErrors, warnings };
    if (!inForce) throw notDeployed(workflow.workflowId);
    const { deployed, components, sources: storedSources } = inForce.stored;
    const planned: PlannedVersion = {
      definition: settings,
      triggers: inForce.triggers,
      steps: deployed.steps,
      components,
      sources: ownedSourcesOf(workflow),
      storedSources,
      secrets: [],
      warnings,
      keep: () => Promise.resolve(),
    };
    return { changes, planned, ignoreHookErrors, warnings };
  }
}

/**
 * What a draft changes now, and with its deployment. A workflow that was never deployed takes all but its activity at
 * once.
 */
const faceOfDraft = (
  given: Partial<WorkflowFace>,
  { deployed, draft }: WorkflowRecord,
): { readonly changes: Changes; readonly face: Partial<WorkflowFace> } => {
  if (deployed) return { changes: {}, face: given };
  const { active = draft?.face.active, ...changes } = given;
  return { changes, face: active === undefined ? {} : { active } };
};

const draftWithoutSteps = (): DomainError =>
  new DomainError('request.missing_parameter', 'a draft is a whole definition: give steps, or leave draft out', {
    field: 'steps',
  });

const ignoresHookErrors = (definition: JsonObject, beside: Beside): boolean =>
  definition['ignore_hook_errors'] === true || beside.ignore_hook_errors === true;
