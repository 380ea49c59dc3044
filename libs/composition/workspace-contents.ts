import { idOf, type DomainEvent, type RecordedEvent } from '#libs/kernel/events.js';
import { type AccountEvent } from '#libs/accounts/published.js';
import { type DataStoreEvent } from '#libs/data-stores/published.js';
import { type SourceEvent } from '#libs/sources/published.js';
import { type WebhookEvent } from '#libs/webhooks/published.js';

type ResourceEvent = AccountEvent | DataStoreEvent | SourceEvent | WebhookEvent;
type Opening = Extract<
  ResourceEvent['type'],
  'SourceDeployed' | 'WebhookCreated' | 'DataStoreCreated' | 'AccountConnected'
>;
type Closing = Extract<
  ResourceEvent['type'],
  'SourceDeleted' | 'WebhookDeleted' | 'DataStoreDeleted' | 'AccountDisconnected'
>;

const OPENINGS: Readonly<Record<Opening, string>> = {
  SourceDeployed: 'source',
  WebhookCreated: 'webhook',
  DataStoreCreated: 'data store',
  AccountConnected: 'account',
};
const CLOSINGS: Readonly<Record<Closing, true>> = {
  SourceDeleted: true,
  WebhookDeleted: true,
  DataStoreDeleted: true,
  AccountDisconnected: true,
};

/**
 * The resources of workspaces that do something or keep something by themselves. Subscriptions end with these, and
 * components do nothing without a source.
 */
export class WorkspaceContents {
  private readonly open = new Map<string, { readonly workspaceId: string; readonly kind: string }>();

  apply({ type, stream, metadata }: RecordedEvent<DomainEvent>): void {
    if (type in CLOSINGS) this.open.delete(idOf(stream));
    if (!(type in OPENINGS)) return;
    this.open.set(idOf(stream), { workspaceId: metadata.workspaceId, kind: OPENINGS[type as Opening] });
  }

  /** What a workspace holds, such as `2 sources, 1 webhook`; undefined when it holds nothing. */
  of(workspaceId: string): string | undefined {
    const counts = new Map<string, number>();
    for (const each of this.open.values())
      if (each.workspaceId === workspaceId) counts.set(each.kind, (counts.get(each.kind) ?? 0) + 1);
    if (counts.size === 0) return undefined;
    return [...counts].map(([kind, count]) => `${count} ${kind}${count === 1 ? '' : 's'}`).join(', ');
  }
}
