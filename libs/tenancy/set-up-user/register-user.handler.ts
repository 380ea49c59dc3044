import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { CallersView } from '../callers-view.js';
import { setUpUser } from './set-up-user.js';

export interface RegisteredUser {
  readonly userId: string;
  readonly workspaceId: string;
  /** The key itself, shown only once. */
  readonly apiKey: string;
  readonly position?: Position;
}

/** Adds a user with a workspace and an API key of their own. Issued by the operator on the command line. */
export class RegisterUser extends Command<RegisteredUser> {
  constructor(
    readonly username: string,
    readonly email: string,
    readonly workspaceName: string,
  ) {
    super();
  }
}

@CommandHandler(RegisterUser)
export class RegisterUserHandler implements ICommandHandler<RegisterUser> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly callers: CallersView,
  ) {}

  async execute({ username, email, workspaceName }: RegisterUser): Promise<RegisteredUser> {
    const { handleCommand, clock, callers } = this;
    const { key, position, ...ids } = await setUpUser(
      { handleCommand, clock, callers },
      { username, email, workspaceName },
    );
    if (key.status !== 'made') {
      throw new DomainError('user.already_exists', `user ${username} exists already and has an API key`, {
        field: 'username',
        actual: username,
      });
    }
    await key.handedOver();
    return { ...ids, apiKey: key.secret, ...(position === undefined ? {} : { position }) };
  }
}
