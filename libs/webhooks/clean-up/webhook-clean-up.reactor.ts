import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type WebhookTopics } from '../ports.js';
import { type WebhookEvent } from '../published.js';

export interface WebhookCleanUpDependencies {
  readonly events: EventStore;
  readonly topics: WebhookTopics;
  readonly vault: Vault;
  /** Projector of the attempts. */
  readonly attempts: { forget(key: string, topics: readonly string[]): Promise<void> };
}

/** Removes topics, attempts and keys of a deleted webhook. Removes expired keys when a new one is made. */
export class WebhookCleanUpReactor implements Reactor {
  readonly name = 'webhooks.clean-up.v1';
  readonly eventTypes: readonly WebhookEvent['type'][] = ['WebhookDeleted', 'WebhookSigningKeyRegenerated'];

  constructor(private readonly deps: WebhookCleanUpDependencies) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const { events, topics, vault, attempts } = this.deps;
    const event = recorded as RecordedEvent & WebhookEvent;
    const gone = event.type === 'WebhookDeleted';
    if (gone) {
      await topics.remove(idOf(event.stream));
      await attempts.forget(idOf(event.stream), []);
    }
    for await (const past of events.read(event.stream)) {
      if (past.revision > event.revision) return;
      for (const ref of refsOf(past, gone ? Infinity : event.recordedAt)) await vault.delete(ref);
    }
  }
}

/** References of unused keys in this event: all of them at Infinity, else the former ones that expired by `now`. */
const refsOf = (recorded: RecordedEvent, now: number): readonly string[] => {
  const event = recorded as RecordedEvent & WebhookEvent;
  switch (event.type) {
    case 'WebhookCreated':
      return now === Infinity ? [event.data.signingKeyRef] : [];
    case 'WebhookSigningKeyRegenerated': {
      const former = event.data.formerValidUntil <= now ? [event.data.formerKeyRef] : [];
      return now === Infinity ? [...former, event.data.signingKeyRef] : former;
    }
    default:
      return [];
  }
};
