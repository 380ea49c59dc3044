import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { autoSubscribed, autoSubscription, autoSubscriptionIdOf } from '../domain/auto-subscription.js';
import { checkListener } from '../domain/triple.js';

export class DeleteAutoSubscription extends Command<{ readonly position?: Position }> {
  constructor(
    readonly eventName: string,
    readonly listenerId: string,
    /** One context for each workspace that may hold it. */
    readonly contexts: readonly CommandContext[],
  ) {
    super();
  }
}

/** Deletes it in the first workspace that has it. Throws auto_subscription.not_found. */
@CommandHandler(DeleteAutoSubscription)
export class DeleteAutoSubscriptionHandler implements ICommandHandler<DeleteAutoSubscription> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ eventName: given, listenerId, contexts }: DeleteAutoSubscription): Promise<{
    readonly position?: Position;
  }> {
    const eventName = autoSubscribed(given);
    checkListener(listenerId);
    const command = { type: 'delete', reason: 'requested', now: this.clock.now() } as const;
    for (const context of contexts) {
      const id = autoSubscriptionIdOf(context.workspaceId, listenerId, eventName);
      try {
        const { position } = await this.handleCommand(autoSubscription, id, command, context);
        return position === undefined ? {} : { position };
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'auto_subscription.not_found') throw error;
      }
    }
    throw new DomainError(
      'auto_subscription.not_found',
      `there is no auto-subscription with event_name ${eventName} and listener_id ${listenerId}`,
      { event_name: eventName, listener_id: listenerId },
    );
  }
}
