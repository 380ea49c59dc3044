import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { subscription, subscriptionIdOf, type Triple } from '../domain/subscription.js';
import { checkTriple } from '../domain/triple.js';
import { mustNotBeOwned } from '../owned-by-workflow.js';

export class DeleteSubscription extends Command<{ readonly position?: Position }> {
  constructor(
    readonly triple: Triple,
    /** One context for each workspace that may hold the subscription. */
    readonly contexts: readonly CommandContext[],
  ) {
    super();
  }
}

/**
 * Deletes the exact triple in the first workspace that has it. Throws subscription.not_found, and
 * subscription.owned_by_workflow for the triple of a trigger.
 */
@CommandHandler(DeleteSubscription)
export class DeleteSubscriptionHandler implements ICommandHandler<DeleteSubscription> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  async execute({ triple, contexts }: DeleteSubscription): Promise<{ readonly position?: Position }> {
    checkTriple(triple);
    const command = { type: 'delete', reason: 'requested', now: this.clock.now() } as const;
    for (const context of contexts) {
      const id = subscriptionIdOf(context.workspaceId, triple);
      try {
        const { position } = await this.handleCommand(subscription, id, command, context);
        return position === undefined ? {} : { position };
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'subscription.not_found') throw error;
      }
    }
    const workspaceIds = contexts.map(({ workspaceId }) => workspaceId);
    await mustNotBeOwned(this.readModels, workspaceIds, triple);
    const { emitterId, listenerId, eventName } = triple;
    throw new DomainError(
      'subscription.not_found',
      `there is no subscription with emitter_id ${emitterId}, listener_id ${listenerId} and event_name "${eventName}"`,
      { emitter_id: emitterId, listener_id: listenerId, event_name: eventName },
    );
  }
}
