import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { type Replay, subscription } from '../domain/subscription.js';
import { emitterKindOf } from '../domain/triple.js';
import { mustBeActive, notFound, REPLAYS, type Replays, RESOURCES, type Resources } from '../ports.js';
import { type SubscriptionDoc } from '../read-models/subscriptions.projection.js';

/** Emitter and range of the events to pass on again. An absent end of the range is open. */
export interface ReplayRequest {
  readonly emitterId?: string;
  readonly startId?: string;
  readonly endId?: string;
  /** Events a second. */
  readonly rate: number;
}

export interface StartedReplay extends Replay {
  readonly events: number;
  readonly startedAt: number;
  readonly endsAt: number;
  readonly position?: Position;
}

export class ReplaySubscription extends Command<StartedReplay> {
  constructor(
    readonly subscription: SubscriptionDoc,
    readonly request: ReplayRequest,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Starts a replay (docs/reference/rest-api.md#subscription-replay). The range is fixed now, so no later event is in it.
 * Throws subscription.nothing_to_replay, .replay_runs, .invalid_emitter, emitter.not_found, event.invalid_id,
 * source.inactive, webhook.inactive.
 */
@CommandHandler(ReplaySubscription)
export class ReplaySubscriptionHandler implements ICommandHandler<ReplaySubscription> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(REPLAYS) private readonly replays: Replays,
    @Inject(RESOURCES) private readonly resources: Resources,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ subscription: found, request, context }: ReplaySubscription): Promise<StartedReplay> {
    const emitterId = this.emitterOf(found, request.emitterId);
    mustBeActive(this.resources, found.listenerId);
    const { count, oldest, newest } = await this.replays.keptIn(
      emitterId,
      found.eventName,
      request.startId,
      request.endId,
    );
    if (oldest === undefined || newest === undefined)
      throw new DomainError(
        'subscription.nothing_to_replay',
        `no event of ${emitterId} on channel "${found.eventName}" is kept in this range: see its event summaries`,
        { emitter_id: emitterId, event_name: found.eventName },
      );
    const now = this.clock.now();
    const { rate } = request;
    const replay = { replayId: newId('rpl', now), emitterId, startId: oldest, endId: newest, rate };
    const command = { type: 'start_replay', ...replay, events: count, now } as const;
    const { state, position } = await this.handleCommand(subscription, found.id, command, context);
    const endsAt = state.status === 'exists' ? (state.replay?.endsAt ?? now) : now;
    return { ...replay, events: count, startedAt: now, endsAt, ...(position === undefined ? {} : { position }) };
  }

  /** The emitter whose events are sent: that of the subscription, or one of its many emitters. */
  private emitterOf({ emitterId: own, workspaceId }: SubscriptionDoc, asked: string | undefined): string {
    const isOne = emitterKindOf(own) === 'resource';
    const emitterId = asked ?? own;
    if ((isOne && emitterId !== own) || emitterKindOf(emitterId) !== 'resource')
      throw new DomainError(
        'subscription.invalid_emitter',
        isOne
          ? `emitter_id must be ${own}, the emitter of this subscription, or be left out`
          : `emitter_id must name one source: this subscription is for ${own}, and a replay sends the events of one`,
        { field: 'emitter_id', actual: asked ?? '' },
      );
    if (this.resources.find(emitterId)?.workspaceId !== workspaceId) throw notFound('emitter', emitterId);
    return emitterId;
  }
}
