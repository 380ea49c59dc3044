import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { ChangesOfWorkflows } from '../changes-of-workflows.js';
import { Deployments } from '../deployments.js';
import { busyAsWorkflow } from '../domain/workflow.js';
import { FormerVersions } from '../former-versions.js';
import { type SavedWorkflow } from '../saved-workflow.js';

export class RollBackWorkflow extends Command<SavedWorkflow> {
  constructor(
    readonly workflowId: string,
    readonly version: number,
    /** Restores the version also when a deactivate hook of a source of the workflow fails. */
    readonly ignoreHookErrors: boolean,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Deploys a former version again (docs/reference/workflows.md#rollback). Throws workflow.not_found,
 * workflow.version_not_found, workflow.invalid_definition, workflow.busy, source.hook_failed.
 */
@CommandHandler(RollBackWorkflow)
export class RollBackWorkflowHandler implements ICommandHandler<RollBackWorkflow> {
  constructor(
    private readonly deployments: Deployments,
    private readonly formerVersions: FormerVersions,
    private readonly changes: ChangesOfWorkflows,
  ) {}

  execute(command: RollBackWorkflow): Promise<SavedWorkflow> {
    return busyAsWorkflow(command.workflowId, this.run(command));
  }

  private async run({ workflowId, version, ignoreHookErrors, context }: RollBackWorkflow): Promise<SavedWorkflow> {
    const present = await this.deployments.present(await this.changes.current(workflowId, context));
    const former = await this.formerVersions.find(workflowId, version);
    const restored = await this.deployments.restored(workflowId, former, present.inForce, context);
    const planned = { ...restored, restoredFrom: version };
    const change = { changes: {}, planned, ignoreHookErrors, warnings: planned.warnings };
    return this.changes.carryOut(change, present, context);
  }
}
