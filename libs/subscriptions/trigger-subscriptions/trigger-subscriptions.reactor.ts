import { type Clock } from '#libs/kernel/clock.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type Reactor, reactionTo } from '#libs/kernel/reactor.js';
import { sameJson } from '#libs/kernel/same-json.js';
import {
  isListening,
  type ListeningTrigger,
  type WorkflowDeployed,
  type WorkflowEvent,
} from '#libs/workflows/published.js';
import { subscription } from '../domain/subscription.js';

export interface TriggerSubscriptionsDependencies {
  readonly events: EventStore;
  readonly handleCommand: HandleCommand;
  readonly clock: Clock;
}

/**
 * Makes, changes and removes the subscriptions of a workflow's triggers. It is the only writer of their streams but for
 * the clean-up of deleted resources, and goes through the versions in order, so that a late reaction to one version
 * cannot undo a later one. Triggers that a version keeps are left alone.
 */
export class TriggerSubscriptionsReactor implements Reactor {
  readonly name = 'subscriptions.triggers.v1';
  readonly eventTypes: readonly WorkflowEvent['type'][] = ['WorkflowDeployed'];

  constructor(private readonly deps: TriggerSubscriptionsDependencies) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    if (!isDeployed(recorded)) return;
    const after = recorded.data.triggers.filter(isListening);
    const before = await this.triggersBefore(recorded);
    for (const trigger of before)
      if (!after.some(({ subscriptionId }) => subscriptionId === trigger.subscriptionId))
        await this.remove(trigger, recorded);
    for (const trigger of after)
      if (!before.some((each) => sameJson(each, trigger))) await this.create(trigger, recorded);
  }

  /** Those of the version that this one replaces. */
  private async triggersBefore({ stream, revision }: RecordedEvent): Promise<readonly ListeningTrigger[]> {
    let triggers: readonly ListeningTrigger[] = [];
    for await (const event of this.deps.events.read(stream)) {
      if (event.revision >= revision) break;
      if (isDeployed(event)) triggers = event.data.triggers.filter(isListening);
    }
    return triggers;
  }

  private async create(trigger: ListeningTrigger, cause: RecordedEvent<WorkflowDeployed>): Promise<void> {
    const { subscriptionId, emitterId, eventName, filter, kind: type, name } = trigger;
    const triple = { emitterId, listenerId: idOf(cause.stream), eventName };
    const { userId } = cause.data;
    const owned = { subscriptionId, userId, ...triple, filter, trigger: { type, name } };
    const command = { type: 'create', ...owned, now: this.deps.clock.now() } as const;
    await this.deps.handleCommand(subscription, subscriptionId, command, reactionTo(cause, this.name));
  }

  private async remove({ subscriptionId }: ListeningTrigger, cause: RecordedEvent): Promise<void> {
    const command = { type: 'delete', reason: 'trigger_changed', now: this.deps.clock.now() } as const;
    await this.deps.handleCommand(subscription, subscriptionId, command, reactionTo(cause, this.name));
  }
}

const isDeployed = (event: RecordedEvent): event is RecordedEvent<WorkflowDeployed> =>
  event.type === 'WorkflowDeployed';
