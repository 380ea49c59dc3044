import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type CollectionSchema, type Doc, type PageQuery } from '#libs/kernel/read-model-store.js';

/**
 * Place of a workspace's event in the log, with the fields by which the list is filtered. The event itself is read from
 * the log.
 */
export interface AuditDoc extends Doc {
  readonly workspaceId: string;
  readonly resourceId: string;
  /** Category of the stream, such as `source`. */
  readonly kind: string;
  readonly type: string;
  /** User id, or `system` for the server itself. */
  readonly actor: string;
  readonly stream: string;
  readonly revision: number;
  /** Time of the event, then its position in the log. */
  readonly sort: string;
}

export const WORKSPACE_AUDIT: CollectionSchema = {
  name: 'audit.workspace.v2',
  indexed: ['workspaceId', 'resourceId', 'kind', 'type', 'actor'],
  sort: 'sort',
  counted: [['workspaceId']],
};

/** Epoch milliseconds in fixed width, the beginning of the sort field. No event is older than 1970. */
const timeText = (epochMs: number): string => String(Math.max(0, epochMs)).padStart(16, '0');

/** Ends of the sort field for the entries from `since` to `until`, both included, in epoch milliseconds. */
export const sortWithin = (since: number | undefined, until: number | undefined): Pick<PageQuery, 'from' | 'to'> => ({
  ...(since === undefined ? {} : { from: timeText(since) }),
  // A sort field is never a time alone, so the next millisecond is excluded.
  ...(until === undefined ? {} : { to: timeText(until + 1) }),
});

const categoryOf = ({ stream }: RecordedEvent): string => stream.slice(0, stream.indexOf('-'));

/**
 * One document for each event of a resource of these categories. Documents are never removed, like the log's events.
 */
export const workspaceAuditProjection = (categories: readonly string[]): Projection<AuditDoc> => ({
  name: WORKSPACE_AUDIT.name,
  schema: WORKSPACE_AUDIT,
  keys: (event) => (categories.includes(categoryOf(event)) ? [event.position] : []),
  evolve: (_, event, id) => ({
    id,
    workspaceId: event.metadata.workspaceId,
    resourceId: idOf(event.stream),
    kind: categoryOf(event),
    type: event.type,
    actor: event.metadata.actor.userId,
    stream: event.stream,
    revision: Number(event.revision),
    sort: `${timeText(event.recordedAt)}-${event.position}`,
  }),
});
