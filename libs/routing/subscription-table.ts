import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type SourceEvent } from '#libs/sources/published.js';
import { ERRORS_CHANNEL } from '#libs/stream-log/envelopes.js';
import { type SubscriptionEvent } from '#libs/subscriptions/published.js';
import { type WebhookEvent } from '#libs/webhooks/published.js';

export interface Match {
  readonly subscriptionId: string;
  /** `dc_…`, `wh_…` or `p_…`. */
  readonly listenerId: string;
}

interface Entry extends Match {
  readonly emitterId: string;
  /** Where it is filed: bucket and channel. */
  readonly bucket: string;
  readonly channel: string;
}

type Bucket = Map<string, Map<string, Match>>;
type RoutedEvent = SubscriptionEvent | SourceEvent | WebhookEvent;

/**
 * All subscriptions of all workspaces, in memory. An emit is looked up by emitter, by the workspace's glob, and, for
 * `$errors`, by workspace and owner: four map look-ups, then as many steps as there are matches.
 */
export class SubscriptionTable implements LiveView {
  private readonly entries = new Map<string, Entry>();
  /** Bucket, then channel, then subscription id. */
  private readonly buckets = new Map<string, Bucket>();
  /** Emitter and listener id, each to the subscriptions that name it: what goes when it is deleted. */
  private readonly byResource = new Map<string, Set<string>>();
  /** Source to its user, for subscriptions to a user's `$errors`. */
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
      case 'SubscriptionDeleted':
        this.remove(id);
        return;
      case 'SourceDeploymentStarted':
        this.owners.set(id, event.data.userId);
        return;
      case 'SourceDeploymentFailed':
      case 'SourceDeleted':
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

  /** Every subscription that an emit of this channel goes to; exact channel names (decisions.md 1.6). */
  match(emitterId: string, workspaceId: string, channel: string): readonly Match[] {
    const matches: Match[] = [];
    this.collect(emitterId, channel, matches);
    this.collect(globBucket(workspaceId, emitterId.startsWith('p_') ? 'p_*' : 'dc_*'), channel, matches);
    if (channel === ERRORS_CHANNEL) {
      this.collect(workspaceId, channel, matches);
      const owner = this.owners.get(emitterId);
      if (owner !== undefined) this.collect(ownerBucket(workspaceId, owner), channel, matches);
    }
    return matches;
  }

  private collect(bucket: string, channel: string, into: Match[]): void {
    const found = this.buckets.get(bucket)?.get(channel);
    if (found) for (const match of found.values()) into.push(match);
  }

  private add(
    id: string,
    data: { emitterId: string; listenerId: string; eventName: string },
    workspaceId: string,
  ): void {
    const { emitterId, listenerId, eventName } = data;
    const match = { subscriptionId: id, listenerId };
    const entry = { ...match, emitterId, ...placeOf(emitterId, eventName, workspaceId) };
    this.remove(id);
    this.entries.set(id, entry);
    const bucket = getOrAdd(this.buckets, entry.bucket, (): Bucket => new Map());
    getOrAdd(bucket, entry.channel, () => new Map<string, Match>()).set(id, match);
    for (const resource of [emitterId, listenerId])
      getOrAdd(this.byResource, resource, () => new Set<string>()).add(id);
  }

  private remove(id: string): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.entries.delete(id);
    const bucket = this.buckets.get(entry.bucket);
    const channel = bucket?.get(entry.channel);
    channel?.delete(id);
    if (channel?.size === 0) bucket?.delete(entry.channel);
    if (bucket?.size === 0) this.buckets.delete(entry.bucket);
    for (const resource of [entry.emitterId, entry.listenerId]) {
      const ids = this.byResource.get(resource);
      ids?.delete(id);
      if (ids?.size === 0) this.byResource.delete(resource);
    }
  }

  private removeResource(resourceId: string): void {
    for (const id of [...(this.byResource.get(resourceId) ?? [])]) this.remove(id);
  }
}

const globBucket = (workspaceId: string, glob: string): string => `${workspaceId}/${glob}`;
const ownerBucket = (workspaceId: string, userId: string): string => `${workspaceId}/${userId}`;

/** A workspace or a user as emitter means its `$errors`, with the event name or without. */
const placeOf = (
  emitterId: string,
  eventName: string,
  workspaceId: string,
): { readonly bucket: string; readonly channel: string } => {
  if (emitterId === 'dc_*' || emitterId === 'p_*')
    return { bucket: globBucket(workspaceId, emitterId), channel: eventName };
  if (emitterId.startsWith('o_')) return { bucket: emitterId, channel: ERRORS_CHANNEL };
  if (emitterId.startsWith('u_')) return { bucket: ownerBucket(workspaceId, emitterId), channel: ERRORS_CHANNEL };
  return { bucket: emitterId, channel: eventName };
};

const getOrAdd = <V>(map: Map<string, V>, key: string, make: () => V): V => {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
};
