import { type Clock } from '#libs/kernel/clock.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { readAll } from '#libs/kernel/read-all.js';
import { type Reactor, reactionTo } from '#libs/kernel/reactor.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { subscription, subscriptionIdOf } from '../domain/subscription.js';
import { type AutoSubscriptionDoc, autoSubscriptionsProjection } from '../read-models/auto-subscriptions.projection.js';

export interface AutoSubscribeDependencies {
  readonly handleCommand: HandleCommand;
  readonly readModels: ReadModelStore;
  readonly readYourWrites: ReadYourWrites;
  readonly clock: Clock;
}

const CAUGHT_UP_MS = 10_000;

/**
 * Subscribes the listeners of a workspace's auto-subscriptions to each new source and workflow. The subscriptions are
 * ordinary ones: they show in lists, and the roll-back of a failed deployment removes them.
 */
export class AutoSubscribeReactor implements Reactor {
  readonly name = 'subscriptions.auto-subscribe.v1';
  readonly eventTypes = ['SourceDeploymentStarted', 'WorkflowCreated'];

  constructor(private readonly deps: AutoSubscribeDependencies) {}

  async handle(event: RecordedEvent): Promise<void> {
    const { readModels, readYourWrites, handleCommand, clock } = this.deps;
    // The list must contain every auto-subscription recorded before the new emitter.
    if (!(await readYourWrites.waitFor(event.position, CAUGHT_UP_MS))) {
      throw new Error(`read models have not reached position ${event.position} after ${CAUGHT_UP_MS} ms`);
    }
    const { workspaceId } = event.metadata;
    const emitterId = idOf(event.stream);
    const { schema } = autoSubscriptionsProjection;
    for (const auto of await readAll<AutoSubscriptionDoc>(readModels, schema, { workspaceId })) {
      if (auto.since > event.position) continue;
      const { listenerId, eventName, userId } = auto;
      const triple = { emitterId, listenerId, eventName };
      const id = subscriptionIdOf(workspaceId, triple);
      const command = { type: 'create', subscriptionId: id, userId, now: clock.now(), ...triple } as const;
      await handleCommand(subscription, id, command, reactionTo(event, this.name));
    }
  }
}
