import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { variable, variableId } from '../domain/variable.js';

export class DeleteVariable extends Command<{ readonly position?: Position }> {
  constructor(
    readonly name: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** VariableCleanUpReactor removes the value. */
@CommandHandler(DeleteVariable)
export class DeleteVariableHandler implements ICommandHandler<DeleteVariable> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ name, context }: DeleteVariable): Promise<{ readonly position?: Position }> {
    const command = { type: 'delete', name, now: this.clock.now() } as const;
    const id = variableId(context.workspaceId, name);
    const { position } = await this.handleCommand(variable, id, command, context);
    return position === undefined ? {} : { position };
  }
}
