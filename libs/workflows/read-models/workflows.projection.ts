import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { creationSort, creationSortOf } from '#libs/kernel/ids.js';
import { type CollectionSchema } from '#libs/kernel/read-model-store.js';
import { type Revised, withRevision } from '#libs/kernel/with-revision.js';
import { workflowDecider, type WorkflowRecord } from '../domain/workflow.js';
import { type WorkflowEvent } from '../published.js';

export interface WorkflowDoc extends Revised {
  readonly workspaceId: string;
  readonly active: 'yes' | 'no';
  /** Empty for none. */
  readonly externalId: string;
  /** The creation in fixed width, which also follows from the id. */
  readonly sort: string;
  readonly workflow: WorkflowRecord;
}

export const WORKFLOWS: CollectionSchema = {
  name: 'workflows.workflows.v3',
  indexed: ['workspaceId', 'active', 'externalId'],
  sort: 'sort',
  counted: [['workspaceId'], ['workspaceId', 'active']],
};

const TYPES: ReadonlySet<string> = new Set<WorkflowEvent['type']>([
  'WorkflowCreated',
  'WorkflowDeployed',
  'WorkflowDraftSaved',
  'WorkflowDraftDiscarded',
  'WorkflowChanged',
  'WorkflowDeleted',
]);

export const isWorkflowEvent = (event: RecordedEvent): event is RecordedEvent & WorkflowEvent => TYPES.has(event.type);

/** Workflows with their states, for look-ups by id and for lists. */
export const workflowsProjection = withRevision<WorkflowDoc>({
  name: WORKFLOWS.name,
  schema: WORKFLOWS,
  keys: (event) => (isWorkflowEvent(event) ? [idOf(event.stream)] : []),
  evolve: (doc, event, id) => {
    if (!isWorkflowEvent(event)) return doc;
    const before = doc ? ({ status: 'exists', workflow: doc.workflow } as const) : workflowDecider.initialState();
    const state = workflowDecider.evolve(before, event);
    if (state.status !== 'exists') return undefined;
    const { workflow } = state;
    return {
      id,
      workspaceId: doc?.workspaceId ?? event.metadata.workspaceId,
      active: workflow.active ? 'yes' : 'no',
      externalId: workflow.externalId ?? '',
      sort: creationSortOf('p')(id) ?? creationSort(workflow.createdAt),
      workflow,
    };
  },
});
