import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { ChangesOfWorkflows } from '../changes-of-workflows.js';
import { Deployments } from '../deployments.js';
import { busyAsWorkflow, noDraft } from '../domain/workflow.js';
import { type SavedWorkflow } from '../saved-workflow.js';

export class DeployDraft extends Command<SavedWorkflow> {
  constructor(
    readonly workflowId: string,
    /** Deploys it also when a deactivate hook of a source of the workflow fails. */
    readonly ignoreHookErrors: boolean,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Deploys the draft (docs/reference/workflows.md#drafts). Throws workflow.not_found, workflow.no_draft,
 * workflow.invalid_definition, workflow.busy, workflow.external_id_taken, source.hook_failed.
 */
@CommandHandler(DeployDraft)
export class DeployDraftHandler implements ICommandHandler<DeployDraft> {
  constructor(
    private readonly deployments: Deployments,
    private readonly changes: ChangesOfWorkflows,
  ) {}

  execute(command: DeployDraft): Promise<SavedWorkflow> {
    return busyAsWorkflow(command.workflowId, this.run(command));
  }

  private async run({ workflowId, ignoreHookErrors, context }: DeployDraft): Promise<SavedWorkflow> {
    const present = await this.deployments.present(await this.changes.current(workflowId, context));
    const { workflow, inForce, draft } = present;
    if (!workflow.draft || !draft) throw noDraft(workflowId);
    const planned = await this.deployments.restored(workflowId, draft, inForce, context);
    const { face: changes, draftId: deploys } = workflow.draft;
    const change = { changes, planned, ignoreHookErrors, warnings: planned.warnings, deploys };
    return this.changes.carryOut(change, present, context);
  }
}
