import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { workflowDecider } from '../domain/workflow.js';

export class DiscardDraft extends Command<{ readonly position: Position | undefined }> {
  constructor(
    readonly workflowId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** A reaction removes its secrets. Throws workflow.not_found, workflow.no_draft. */
@CommandHandler(DiscardDraft)
export class DiscardDraftHandler implements ICommandHandler<DiscardDraft> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workflowId, context }: DiscardDraft): Promise<{ readonly position: Position | undefined }> {
    const command = { type: 'DiscardDraft', now: this.clock.now() } as const;
    const { position } = await this.handle(workflowDecider, workflowId, command, context);
    return { position };
  }
}
