import { type Clock } from '#libs/kernel/clock.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf, streamName, type RecordedEvent } from '#libs/kernel/events.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { readAll } from '#libs/kernel/read-all.js';
import { type Reactor, reactionTo } from '#libs/kernel/reactor.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { type SourceEvent } from '#libs/sources/published.js';
import { type WebhookEvent } from '#libs/webhooks/published.js';
import { type WorkflowEvent } from '#libs/workflows/published.js';
import { autoSubscription } from '../domain/auto-subscription.js';
import { subscription } from '../domain/subscription.js';
import { type AutoSubscriptionEvent, type SubscriptionDeleted, type SubscriptionEvent } from '../published.js';
import { type AutoSubscriptionDoc, autoSubscriptionsProjection } from '../read-models/auto-subscriptions.projection.js';
import { type SubscriptionDoc, subscriptionsProjection } from '../read-models/subscriptions.projection.js';

export interface CleanUpDependencies {
  readonly events: EventStore;
  readonly handleCommand: HandleCommand;
  readonly readModels: ReadModelStore;
  readonly readYourWrites: ReadYourWrites;
  readonly clock: Clock;
}

type Reason = SubscriptionDeleted['data']['reason'];
type HandledEvent = SourceEvent | WebhookEvent | WorkflowEvent | SubscriptionEvent | AutoSubscriptionEvent;

/** Stream category of each resource that can be deleted. */
const CATEGORIES = { dc_: 'source', wh_: 'webhook', p_: 'workflow' } as const;
const GONE: readonly string[] = ['SourceDeleted', 'SourceDeploymentFailed', 'WebhookDeleted', 'WorkflowDeleted'];
const CAUGHT_UP_MS = 10_000;

/**
 * Removes the subscriptions from and to a deleted source, webhook or workflow, and the auto-subscriptions to it, in two
 * ways. A deletion removes all subscriptions recorded before it. A subscription recorded after the deletion is removed when its
 * event arrives, because its resource was deleted between the check and the append.
 */
export class DeletedResourceSubscriptionsReactor implements Reactor {
  readonly name = 'subscriptions.clean-up.v1';
  readonly eventTypes = [...GONE, 'SubscriptionCreated', 'AutoSubscriptionCreated'];

  constructor(private readonly deps: CleanUpDependencies) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const event = recorded as RecordedEvent & HandledEvent;
    switch (event.type) {
      case 'SourceDeleted':
      case 'SourceDeploymentFailed':
      case 'WebhookDeleted':
      case 'WorkflowDeleted':
        return this.afterDeletion(event);
      case 'SubscriptionCreated': {
        const { emitterId, listenerId } = event.data;
        const id = idOf(event.stream);
        if (await this.isGone(emitterId)) await this.remove(id, 'emitter_deleted', event);
        else if (await this.isGone(listenerId)) await this.remove(id, 'listener_deleted', event);
        return;
      }
      case 'AutoSubscriptionCreated':
        if (await this.isGone(event.data.listenerId)) await this.removeAuto(idOf(event.stream), event);
        return;
      default:
        return;
    }
  }

  private async afterDeletion(event: RecordedEvent): Promise<void> {
    const { readModels, readYourWrites } = this.deps;
    // The list must contain every subscription recorded before the deletion.
    if (!(await readYourWrites.waitFor(event.position, CAUGHT_UP_MS))) {
      throw new Error(`read models have not reached position ${event.position} after ${CAUGHT_UP_MS} ms`);
    }
    const resourceId = idOf(event.stream);
    const { schema } = subscriptionsProjection;
    for (const { id } of await readAll<SubscriptionDoc>(readModels, schema, { emitterId: resourceId })) {
      await this.remove(id, 'emitter_deleted', event);
    }
    for (const { id } of await readAll<SubscriptionDoc>(readModels, schema, { listenerId: resourceId })) {
      await this.remove(id, 'listener_deleted', event);
    }
    const autos = await readAll<AutoSubscriptionDoc>(readModels, autoSubscriptionsProjection.schema, {
      listenerId: resourceId,
    });
    for (const { id } of autos) await this.removeAuto(id, event);
  }

  private async remove(subscriptionId: string, reason: Reason, cause: RecordedEvent): Promise<void> {
    const command = { type: 'delete', reason, now: this.deps.clock.now() } as const;
    await this.deps.handleCommand(subscription, subscriptionId, command, reactionTo(cause, this.name));
  }

  private async removeAuto(id: string, cause: RecordedEvent): Promise<void> {
    const command = { type: 'delete', reason: 'listener_deleted', now: this.deps.clock.now() } as const;
    await this.deps.handleCommand(autoSubscription, id, command, reactionTo(cause, this.name));
  }

  /** Reads the log, because a view in memory may lag behind it. */
  private async isGone(resourceId: string): Promise<boolean> {
    const prefix = Object.keys(CATEGORIES).find((known) => resourceId.startsWith(known));
    if (prefix === undefined || resourceId.endsWith('*')) return false;
    const stream = streamName(CATEGORIES[prefix as keyof typeof CATEGORIES], resourceId);
    for await (const last of this.deps.events.read(stream, { direction: 'backwards', limit: 1 })) {
      return GONE.includes(last.type);
    }
    return false;
  }
}
