import { creationSort, creationSortOf } from '#libs/kernel/ids.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Revised, withRevision } from '#libs/kernel/with-revision.js';
import { type CollectionSchema } from '#libs/kernel/read-model-store.js';
import { deployedSource, sourceDecider, type SourceState } from '../domain/source.js';
import { type SourceEvent } from '../published.js';

export interface SourceDoc extends Revised {
  readonly workspaceId: string;
  readonly userId: string;
  readonly nameSlug: string;
  /** A source is listed once its deployment is over. See docs/reference/rest-api.md#source-deploy-listing. */
  readonly listed: 'yes' | 'no';
  /**
   * The start of the deployment in fixed width, which also follows from the id. It never changes, so a list keeps its
   * order.
   */
  readonly sort: string;
  readonly state: Exclude<SourceState, { status: 'none' }>;
}

export const SOURCES: CollectionSchema = {
  name: 'sources.sources.v3',
  indexed: ['workspaceId', 'userId', 'nameSlug', 'listed'],
  sort: 'sort',
  counted: [['workspaceId'], ['workspaceId', 'listed'], ['userId', 'listed'], ['userId', 'workspaceId', 'listed']],
};

const TYPES: ReadonlySet<string> = new Set<SourceEvent['type']>([
  'SourceDeploymentStarted',
  'SourceDeployed',
  'SourceDeploymentFailed',
  'SourceUpdateStarted',
  'SourceUpdated',
  'SourceUpdateFailed',
  'SourceDeletionStarted',
  'SourceDeleted',
  'SourceDeletionFailed',
]);

export const isSourceEvent = (event: RecordedEvent): event is RecordedEvent<SourceEvent> => TYPES.has(event.type);

/** Sources with their states, for look-ups by id and slug, and for the lists of a user and a workspace. */
export const sourcesProjection = withRevision<SourceDoc>({
  name: SOURCES.name,
  schema: SOURCES,
  keys: (event) => (isSourceEvent(event) ? [idOf(event.stream)] : []),
  evolve: (doc, event, id) => {
    if (!isSourceEvent(event)) return doc;
    const state = sourceDecider.evolve(doc?.state ?? sourceDecider.initialState(), sourceEventOf(event));
    if (state.status === 'none' || state.status === 'gone') return undefined;
    const { userId, nameSlug, createdAt } = state.source;
    return {
      id,
      workspaceId: doc?.workspaceId ?? event.metadata.workspaceId,
      userId,
      nameSlug,
      listed: deployedSource(state) ? 'yes' : 'no',
      sort: creationSortOf('dc')(id) ?? creationSort(createdAt),
      state,
    };
  },
});

/** The event without the fields that the log adds. */
export const sourceEventOf = ({ type, data }: RecordedEvent<SourceEvent>): SourceEvent =>
  ({ type, data }) as SourceEvent;
