import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { subscription, subscriptionIdOf, type Triple } from '../domain/subscription.js';
import { checkTriple } from '../domain/triple.js';
import { mustNotBeOwned } from '../owned-by-workflow.js';
import { type EventFilter } from '../published.js';
import { mustBeEmitter, mustBeListener, RESOURCES, type Resources } from '../ports.js';
import { subscriptionsProjection } from '../read-models/subscriptions.projection.js';
import { type SubscriptionLimits } from '../limits.js';

export interface CreatedSubscription {
  readonly subscription: {
    readonly id: string;
    readonly filter: EventFilter | null;
    /** True when the subscription existed and this command changed its filter. */
    readonly changed: boolean;
    readonly revision: number;
  } & Triple;
  readonly position?: Position;
}

export class CreateSubscription extends Command<CreatedSubscription> {
  constructor(
    readonly triple: Triple,
    /** As in SubscriptionCommand. */
    readonly filter: EventFilter | null | undefined,
    readonly context: CommandContext,
  ) {
    super();
  }
}

@CommandHandler(CreateSubscription)
export class CreateSubscriptionHandler implements ICommandHandler<CreateSubscription> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(RESOURCES) private readonly resources: Resources,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: SubscriptionLimits,
  ) {}

  async execute({ triple, filter, context }: CreateSubscription): Promise<CreatedSubscription> {
    const kind = checkTriple(triple);
    mustBeEmitter(this.resources, kind, triple.emitterId, context);
    mustBeListener(this.resources, context.workspaceId, triple.listenerId);

    // DeletedResourceSubscriptionsReactor handles a resource that is deleted after this check.
    const id = subscriptionIdOf(context.workspaceId, triple);
    await this.mustBeNewOrKnown(context.workspaceId, id, triple);
    const { userId } = context.actor;
    const command = { type: 'create', subscriptionId: id, userId, filter, now: this.clock.now(), ...triple } as const;
    const { state, events, position, revision } = await this.handleCommand(subscription, id, command, context);
    const now = state.status === 'exists' ? state.filter : null;
    const changed = events.some(({ type }) => type === 'SubscriptionFilterChanged');
    const shown = { id, ...triple, filter: now, changed, revision: Number(revision) };
    return { subscription: shown, ...(position === undefined ? {} : { position }) };
  }

  /** Passes for an existing subscription even at the limit, because creating it again adds none. */
  private async mustBeNewOrKnown(workspaceId: string, id: string, triple: Triple): Promise<void> {
    const { schema } = subscriptionsProjection;
    if (await this.readModels.get(schema, id)) return;
    await mustNotBeOwned(this.readModels, [workspaceId], triple);
    const limit = this.limits.subscriptionsPerWorkspace;
    const counted = { what: 'subscriptions', owner: 'workspace', limit, setting: 'SLUICE_MAX_SUBSCRIPTIONS' } as const;
    await checkRoom(this.readModels, schema, { workspaceId }, counted);
  }
}
