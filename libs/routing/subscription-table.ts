import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type SourceEvent } from '#libs/sources/published.js';
import { ERRORS_CHANNEL, PLATFORM_CHANNEL } from '#libs/component-model/channels.js';
import { type ErrorEmailsEvent } from '#libs/notifications/published.js';
import {
  type EventFilter,
  type SubscribedTrigger,
  type SubscriptionCreated,
  type SubscriptionEvent,
} from '#libs/subscriptions/published.js';
import { type WebhookEvent } from '#libs/webhooks/published.js';
import { type WorkflowEvent } from '#libs/workflows/published.js';

export interface Match {
  readonly subscriptionId: string;
  /** `dc_…`, `wh_…`, `p_…`, or EMAIL_LISTENER. */
  readonly listenerId: string;
  /** Which events the listener gets; undefined for all. */
  readonly filter?: EventFilter | undefined;
  /** Trigger that owns the subscription. */
  readonly trigger?: SubscribedTrigger;
}

/** One object per subscription, which is also returned as the match. */
interface Entry extends Omit<Match, 'filter'> {
  filter: EventFilter | undefined;
  readonly emitterId: string;
  /** Bucket and channel under which the entry is stored. */
  readonly bucket: string;
  readonly channel: string;
}

type RoutedEvent = SubscriptionEvent | SourceEvent | WebhookEvent | WorkflowEvent | ErrorEmailsEvent;

/** Listener that stands for the owner of a source, who gets its errors by email. */
export const EMAIL_LISTENER = 'email';

const emailEntryOf = (sourceId: string): string => `email/${sourceId}`;

/**
 * All subscriptions of all workspaces, in memory. An emit is looked up by emitter and by the workspace's glob, and an
 * emit on `$errors` also by workspace and owner. That costs four map look-ups and one step per match.
 */
export class SubscriptionTable implements LiveView {
  private readonly entries = new Map<string, Entry>();
  /**
   * Entries by channel, then bucket. Most buckets hold one subscription to the default channel. A set or map for each
   * of 100,000 buckets would take 50 MB, so the channel comes first and buckets are lists.
   */
  private readonly channels = new Map<string, Map<string, Entry[]>>();
  /** Subscriptions by the id of their emitter or listener, whose deletion removes them. */
  private readonly byResource = new Map<string, Entry[]>();
  /** Owner of each source and workflow, for subscriptions to a user's `$errors`. */
  private readonly owners = new Map<string, string>();

  get size(): number {
    return this.entries.size;
  }

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & RoutedEvent;
    const id = idOf(recorded.stream);
    switch (event.type) {
      case 'SubscriptionCreated':
        this.add(id, event.data, event.metadata.workspaceId);
        return;
      case 'SubscriptionFilterChanged':
        this.refilter(id, event.data.filter);
        return;
      case 'SubscriptionDeleted':
        this.remove(id);
        return;
      case 'ErrorEmailsSwitchedOn': {
        const errors = { emitterId: id, listenerId: EMAIL_LISTENER, eventName: ERRORS_CHANNEL };
        this.add(emailEntryOf(id), errors, event.metadata.workspaceId);
        return;
      }
      case 'ErrorEmailsSwitchedOff':
        this.remove(emailEntryOf(id));
        return;
      case 'SourceDeploymentStarted':
      case 'WorkflowCreated':
        this.owners.set(id, event.data.userId);
        return;
      case 'SourceDeploymentFailed':
      case 'SourceDeleted':
      case 'WorkflowDeleted':
        this.owners.delete(id);
        this.removeResource(id);
        return;
      case 'WebhookDeleted':
        this.removeResource(id);
        return;
      default:
        return;
    }
  }

  /** Finds the subscriptions for an emit, by exact channel name (docs/reference/delivery.md#subscription-channel). */
  match(emitterId: string, workspaceId: string, channel: string): readonly Match[] {
    const matches: Match[] = [];
    this.collect(emitterId, channel, matches);
    this.collect(globBucket(workspaceId, globOf(emitterId)), channel, matches);
    if (channel === ERRORS_CHANNEL) {
      this.collect(workspaceId, channel, matches);
      const owner = this.owners.get(emitterId);
      if (owner !== undefined) this.collect(ownerBucket(workspaceId, owner), channel, matches);
    }
    return matches;
  }

  /**
   * Whether emits of the source or workflow `from` can reach `to` on any channel, directly or through others. A
   * subscription with emitter `to` and listener `from` then closes a loop. Visits each source and workflow of the
   * workspace at most once.
   */
  leadsTo(from: string, to: string, workspaceId: string): boolean {
    const seen = new Set([from]);
    const next = [from];
    for (let emitter = next.pop(); emitter !== undefined; emitter = next.pop()) {
      if (emitter === to) return true;
      for (const listener of this.emittersThatHear(emitter, workspaceId)) {
        if (seen.has(listener)) continue;
        seen.add(listener);
        next.push(listener);
      }
    }
    return false;
  }

  private *emittersThatHear(emitterId: string, workspaceId: string): Iterable<string> {
    for (const { emitterId: emitter, listenerId } of this.byResource.get(emitterId) ?? []) {
      if (emitter === emitterId && mayEmit(listenerId)) yield listenerId;
    }
    const owner = this.owners.get(emitterId);
    const buckets = [globBucket(workspaceId, globOf(emitterId)), workspaceId, ownerBucket(workspaceId, owner ?? '')];
    for (const lists of this.channels.values()) {
      for (const bucket of buckets) {
        for (const { listenerId } of lists.get(bucket) ?? []) if (mayEmit(listenerId)) yield listenerId;
      }
    }
  }

  private collect(bucket: string, channel: string, into: Match[]): void {
    const found = this.channels.get(channel)?.get(bucket);
    if (found) for (const match of found) into.push(match);
  }

  private add(
    id: string,
    data: Pick<SubscriptionCreated['data'], 'emitterId' | 'listenerId' | 'eventName' | 'filter' | 'trigger'>,
    workspaceId: string,
  ): void {
    const { emitterId, listenerId, eventName, trigger } = data;
    const place = placeOf(emitterId, eventName, workspaceId);
    const owned = trigger ? { trigger } : {};
    const entry: Entry = { subscriptionId: id, listenerId, emitterId, filter: data.filter, ...owned, ...place };
    this.remove(id);
    this.entries.set(id, entry);
    let buckets = this.channels.get(entry.channel);
    if (!buckets) this.channels.set(entry.channel, (buckets = new Map<string, Entry[]>()));
    addTo(buckets, entry.bucket, entry);
    for (const resource of resourcesOf(entry)) addTo(this.byResource, resource, entry);
  }

  private refilter(id: string, filter: EventFilter | null): void {
    const entry = this.entries.get(id);
    if (entry) entry.filter = filter ?? undefined;
  }

  private remove(id: string): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.entries.delete(id);
    const buckets = this.channels.get(entry.channel);
    if (buckets) {
      removeFrom(buckets, entry.bucket, entry);
      if (buckets.size === 0) this.channels.delete(entry.channel);
    }
    for (const resource of resourcesOf(entry)) removeFrom(this.byResource, resource, entry);
  }

  private removeResource(resourceId: string): void {
    const entries = this.byResource.get(resourceId) ?? [];
    // Deletes the list first, so that removing an entry does not search it.
    this.byResource.delete(resourceId);
    for (const { subscriptionId } of entries) this.remove(subscriptionId);
  }
}

const globOf = (emitterId: string): string => (emitterId.startsWith('p_') ? 'p_*' : 'dc_*');
const mayEmit = (listenerId: string): boolean => /^(dc|p)_/.test(listenerId);

const globBucket = (workspaceId: string, glob: string): string => `${workspaceId}/${glob}`;
const ownerBucket = (workspaceId: string, userId: string): string => `${workspaceId}/${userId}`;

/** A user as emitter means their `$errors`, whatever the event name. So does a workspace, except for `$platform`. */
const placeOf = (
  emitterId: string,
  eventName: string,
  workspaceId: string,
): { readonly bucket: string; readonly channel: string } => {
  if (emitterId === 'dc_*' || emitterId === 'p_*')
    return { bucket: globBucket(workspaceId, emitterId), channel: eventName };
  if (emitterId.startsWith('o_'))
    return { bucket: emitterId, channel: eventName === PLATFORM_CHANNEL ? PLATFORM_CHANNEL : ERRORS_CHANNEL };
  if (emitterId.startsWith('u_')) return { bucket: ownerBucket(workspaceId, emitterId), channel: ERRORS_CHANNEL };
  return { bucket: emitterId, channel: eventName };
};

/** Lists the resources whose deletion removes the entry. Globs and owners are never deleted. */
const resourcesOf = ({ emitterId, listenerId, bucket }: Entry): readonly string[] =>
  emitterId === listenerId || bucket !== emitterId ? [listenerId] : [emitterId, listenerId];

const addTo = (lists: Map<string, Entry[]>, key: string, entry: Entry): void => {
  const list = lists.get(key);
  if (list) list.push(entry);
  else lists.set(key, [entry]);
};

const removeFrom = (lists: Map<string, Entry[]>, key: string, entry: Entry): void => {
  const list = lists.get(key);
  const at = list?.indexOf(entry) ?? -1;
  if (!list || at === -1) return;
  if (list.length === 1) lists.delete(key);
  else list.splice(at, 1);
};
