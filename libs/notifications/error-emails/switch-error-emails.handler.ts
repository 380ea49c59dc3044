import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { errorEmails, type ErrorEmailsState } from '../domain/error-emails.js';
import { SENDS_EMAIL } from '../ports.js';

export interface SwitchedErrorEmails {
  readonly state: ErrorEmailsState;
  readonly position?: Position;
}

export class SwitchErrorEmails extends Command<SwitchedErrorEmails> {
  constructor(
    readonly sourceId: string,
    readonly enabled: boolean,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** The caller gets the emails. Throws notification.email_not_configured, which switching them off never does. */
@CommandHandler(SwitchErrorEmails)
export class SwitchErrorEmailsHandler implements ICommandHandler<SwitchErrorEmails> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(SENDS_EMAIL) private readonly sendsEmail: boolean,
  ) {}

  async execute({ sourceId, enabled, context }: SwitchErrorEmails): Promise<SwitchedErrorEmails> {
    if (enabled && !this.sendsEmail)
      throw new DomainError(
        'notification.email_not_configured',
        'this server sends no email: its operator must set SLUICE_SMTP_URL first',
        { setting: 'SLUICE_SMTP_URL' },
      );
    const now = this.clock.now();
    const { userId } = context.actor;
    const command = enabled
      ? ({ type: 'switch_on', sourceId, userId, now } as const)
      : { type: 'switch_off' as const, now };
    const { state, position } = await this.handleCommand(errorEmails, sourceId, command, context);
    return position === undefined ? { state } : { state, position };
  }
}
