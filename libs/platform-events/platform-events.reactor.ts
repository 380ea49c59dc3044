import { type AccountEvent } from '#libs/accounts/published.js';
import { type Clock } from '#libs/kernel/clock.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type WebhookEvent } from '#libs/webhooks/published.js';
import { type PlatformEvent, type PlatformEvents } from './platform-events.js';

/** Age above which an event is not reported, such as when a new version of the reactor reads the whole log. */
const OLD_MS = 86_400_000;

/** Reports actions of the platform from the event log. The emit id derives from the event, so a repeat has the same. */
export class PlatformEventsReactor implements Reactor {
  readonly name = 'platform-events.v1';
  readonly eventTypes: readonly (WebhookEvent | AccountEvent)['type'][] = ['WebhookDisabled', 'AccountRefreshFailed'];

  constructor(private readonly deps: { readonly events: Pick<PlatformEvents, 'publish'>; readonly clock: Clock }) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const { events, clock } = this.deps;
    const told = platformEventOf(recorded as RecordedEvent & (WebhookEvent | AccountEvent), clock.now());
    if (told) await events.publish(told, recorded.id);
  }
}

const platformEventOf = (
  event: RecordedEvent & (WebhookEvent | AccountEvent),
  now: number,
): PlatformEvent | undefined => {
  const subject = idOf(event.stream);
  const { workspaceId } = event.metadata;
  switch (event.type) {
    case 'WebhookDisabled': {
      const { reason, disabledAt } = event.data;
      if (now - disabledAt > OLD_MS) return undefined;
      const message = `webhook ${subject} was disabled: ${reason}`;
      return { kind: 'webhook_disabled', workspaceId, subject, message };
    }
    case 'AccountRefreshFailed': {
      const { reason, failedAt, retryAt } = event.data;
      // The attempt is repeated, and a failure may be temporary.
      if (retryAt !== null || now - failedAt > OLD_MS) return undefined;
      const message = `account ${subject} must be connected again: ${reason}`;
      return { kind: 'account_not_refreshed', workspaceId, subject, message };
    }
    default:
      return undefined;
  }
};
