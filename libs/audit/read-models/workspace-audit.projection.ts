import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type CollectionSchema, type Doc, type PageQuery } from '#libs/kernel/read-model-store.js';

/** Where an event of a workspace stands in the log, with what the list is filtered by. The event itself is read there. */
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

/** Epoch milliseconds in fixed width, with which the sort field begins. No event is of a time before 1970. */
const timeText = (epochMs: number): string => String(Math.max(0, epochMs)).padStart(16, '0');

/** Ends of the sort field for the entries from `since` to `until`, both included, in epoch milliseconds. */
export const sortWithin = (since: number | undefined, until: number | undefined): Pick<PageQuery, 'from' | 'to'> => ({
  ...(since === undefined ? {} : { from: timeText(since) }),
  // No sort field is a time alone, so the next millisecond is not included.
  ...(until === undefined ? {} : { to: timeText(until + 1) }),
});

const categoryOf = ({ stream }: RecordedEvent): string => stream.slice(0, stream.indexOf('-'));

/** One document for each event of a resource of these categories. Nothing is ever removed, as from the log. */
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
