import {
  type Asked,
  type KeptReader,
  type KeptRecords,
  type LiveRecord,
  type Shown,
  shownRecord,
  type StreamSource,
} from '#libs/event-streams/index.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf } from '#libs/kernel/events.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type AuditDoc, sortWithin, WORKSPACE_AUDIT } from '../read-models/workspace-audit.projection.js';

/** Name of the changes of resources among the topics that streams read. The stream log has none of this name. */
export const CHANGES = 'changes';
/** Changes that a stream that resumes shows at most, the newest. */
const MOST_KEPT = 2_000;
const APPLIED_MS = 10_000;

/** See docs/reference/rest-api.md#stream-workspace. */
export const changeOf = (stream: string, type: string, revision: number) => ({
  kind: stream.slice(0, stream.indexOf('-')),
  resource_id: idOf(stream),
  type,
  revision,
});

const shownChange = ({ headers, timestamp, value }: StoredRecord): Shown =>
  shownRecord('changes', { at: timestamp, id: headers['position'] ?? '' }, () => value);

const shownDoc = ({ id, sort, stream, type, revision }: AuditDoc): Shown =>
  shownRecord('changes', { at: timeIn(sort), id }, () => JSON.stringify(changeOf(stream, type, revision)));

const timeIn = (sort: string): number => Number(sort.slice(0, sort.indexOf('-')));

/** What happens to the resources of a workspace. */
export class ChangeSource implements StreamSource {
  readonly names = ['changes'];
  readonly topics = CHANGES;

  constructor(
    private readonly events: Pick<EventStore, 'lastPosition'>,
    private readonly readModels: ReadModelStore,
    private readonly applied: ReadYourWrites,
  ) {}

  keyOf({ workspaceId }: Asked): string {
    return workspaceId;
  }

  show(live: LiveRecord): readonly Shown[] {
    return [live.once(shownChange)];
  }

  async caughtUp(): Promise<boolean> {
    return this.applied.waitFor(await this.events.lastPosition(), APPLIED_MS);
  }

  async kept({ workspaceId }: Asked, since: number, { isOver }: KeptReader): Promise<KeptRecords> {
    if (isOver()) return { records: shownOf([]) };
    const query = { where: { workspaceId }, ...sortWithin(Math.max(0, since), undefined), limit: MOST_KEPT };
    const { docs } = await this.readModels.page<AuditDoc>(WORKSPACE_AUDIT, { ...query, withTotal: false });
    const oldest = docs.length < MOST_KEPT ? undefined : docs.at(-1);
    return { ...(oldest ? { gap: timeIn(oldest.sort) } : {}), records: shownOf([...docs].reverse()) };
  }
}

/** Encodes each when it is asked for. */
async function* shownOf(docs: readonly AuditDoc[]): AsyncGenerator<Shown> {
  for (const doc of docs) yield Promise.resolve(shownDoc(doc));
}
