import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { autoSubscribed, autoSubscription, autoSubscriptionIdOf } from '../domain/auto-subscription.js';
import { checkListener } from '../domain/triple.js';
import { mustBeListener, RESOURCES, type Resources } from '../ports.js';
import { type AutoSubscribed } from '../published.js';
import { autoSubscriptionsProjection } from '../read-models/auto-subscriptions.projection.js';
import { type SubscriptionLimits } from '../limits.js';

export interface CreatedAutoSubscription {
  readonly autoSubscription: { readonly id: string; readonly eventName: AutoSubscribed; readonly listenerId: string };
  readonly position?: Position;
}

export class CreateAutoSubscription extends Command<CreatedAutoSubscription> {
  constructor(
    readonly eventName: string,
    readonly listenerId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** Throws subscription.invalid_channel, subscription.invalid_listener, listener.not_found or workspace.limit_reached. */
@CommandHandler(CreateAutoSubscription)
export class CreateAutoSubscriptionHandler implements ICommandHandler<CreateAutoSubscription> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(RESOURCES) private readonly resources: Resources,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: SubscriptionLimits,
  ) {}

  async execute({ eventName: given, listenerId, context }: CreateAutoSubscription): Promise<CreatedAutoSubscription> {
    const eventName = autoSubscribed(given);
    checkListener(listenerId);
    const { workspaceId } = context;
    mustBeListener(this.resources, workspaceId, listenerId);
    const id = autoSubscriptionIdOf(workspaceId, listenerId, eventName);
    await this.mustHaveRoom(workspaceId, id);
    const { userId } = context.actor;
    const fields = { autoSubscriptionId: id, userId, listenerId, eventName };
    const command = { type: 'create', ...fields, now: this.clock.now() } as const;
    const { position } = await this.handleCommand(autoSubscription, id, command, context);
    return { autoSubscription: { id, eventName, listenerId }, ...(position === undefined ? {} : { position }) };
  }

  /** Passes for an existing one even at the limit, because creating it again adds none. */
  private async mustHaveRoom(workspaceId: string, id: string): Promise<void> {
    const { schema } = autoSubscriptionsProjection;
    if (await this.readModels.get(schema, id)) return;
    await checkRoom(
      this.readModels,
      schema,
      { workspaceId },
      {
        what: 'auto-subscriptions',
        owner: 'workspace',
        limit: this.limits.autoSubscriptionsPerWorkspace,
      },
    );
  }
}
