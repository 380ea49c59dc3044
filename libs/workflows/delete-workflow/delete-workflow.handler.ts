import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { workflowDecider, workflowNotFound } from '../domain/workflow.js';
import { ExternalIds, stepOf } from '../external-ids.js';

export class DeleteWorkflow extends Command<{ readonly position: Position | undefined }> {
  constructor(
    readonly workflowId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** A reaction removes the versions and their secrets. Throws workflow.not_found. */
@CommandHandler(DeleteWorkflow)
export class DeleteWorkflowHandler implements ICommandHandler<DeleteWorkflow> {
  constructor(
    private readonly externalIds: ExternalIds,
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workflowId, context }: DeleteWorkflow): Promise<{ readonly position: Position | undefined }> {
    const before = await this.externalIds.stateOf(workflowId, context.workspaceId);
    if (before.status !== 'exists') throw workflowNotFound(workflowId);
    const command = { type: 'Delete', now: this.clock.now() } as const;
    const { position } = await this.handle(workflowDecider, workflowId, command, stepOf(context));
    // After a crash here, the next workflow that wants the external id releases it.
    const { externalId } = before.workflow;
    if (externalId !== null) await this.externalIds.release(externalId, workflowId, context);
    return { position };
  }
}
