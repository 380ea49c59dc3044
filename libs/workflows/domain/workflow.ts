import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { shownId } from '#libs/kernel/ids.js';
import { type WorkflowDeployed, type WorkflowEvent, type WorkflowFace } from '../published.js';

/** A version as it is deployed. The decider gives it its number. */
export type Deployment = Omit<WorkflowDeployed['data'], 'version' | 'deployedAt'>;

/** Times are epoch milliseconds. */
export interface WorkflowRecord extends WorkflowFace {
  readonly workflowId: string;
  readonly userId: string;
  /** The version in force. Null before the first one. */
  readonly deployed: WorkflowDeployed['data'] | null;
  /** Since when it is in its state of activity. */
  readonly switchedAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type WorkflowState =
  | { readonly status: 'none' }
  | { readonly status: 'exists'; readonly workflow: WorkflowRecord }
  | { readonly status: 'deleted'; readonly externalId: string | null };

/** The given of what is no part of a version, and whether unfinished runs are cancelled. */
export type Changes = Partial<WorkflowFace> & { readonly cancelsRuns?: boolean };

export type WorkflowCommand =
  | {
      readonly type: 'Create';
      readonly workflowId: string;
      readonly userId: string;
      readonly face: WorkflowFace;
      readonly deployment: Deployment;
      readonly now: number;
    }
  | {
      readonly type: 'Deploy';
      readonly deployment: Deployment;
      /** The version that the deployment was made from. */
      readonly basedOn: number;
      readonly changes: Changes;
      readonly now: number;
    }
  | { readonly type: 'Change'; readonly changes: Changes; readonly now: number }
  | { readonly type: 'Delete'; readonly now: number };

export const workflowNotFound = (id: string): DomainError =>
  new DomainError(
    'workflow.not_found',
    `there is no workflow ${shownId(id)} in your workspaces${otherKindHint(id, 'p')}`,
    { id: shownId(id) },
  );

/** A source of the workflow is changed by another change of the workflow. */
export const busyAsWorkflow = async <T>(id: string, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof DomainError && error.code === 'source.busy' ? workflowBusy(id) : error;
  }
};

export const workflowBusy = (id: string): DomainError =>
  new DomainError('workflow.busy', `workflow ${id} is being changed by another request: try again`, { id });

export const workflowDecider: Decider<WorkflowCommand, WorkflowEvent, WorkflowState> = {
  category: 'workflow',
  initialState: () => ({ status: 'none' }),

  decide(command, state): WorkflowEvent[] {
    if (command.type === 'Create') return create(command, state);
    if (state.status !== 'exists') throw workflowNotFound('of this id');
    const { workflow } = state;
    const { now } = command;
    switch (command.type) {
      case 'Deploy': {
        const version = workflow.deployed?.version ?? 0;
        if (version !== command.basedOn) throw workflowBusy(workflow.workflowId);
        return [...change(workflow, command.changes, now), deployed(command.deployment, version + 1, now)];
      }
      case 'Change':
        return change(workflow, command.changes, now);
      case 'Delete':
        return [{ type: 'WorkflowDeleted', data: { deletedAt: now } }];
    }
  },

  evolve(state, event): WorkflowState {
    if (event.type === 'WorkflowCreated') {
      const { createdAt } = event.data;
      const workflow = { ...event.data, deployed: null, switchedAt: createdAt, updatedAt: createdAt };
      return { status: 'exists', workflow };
    }
    if (state.status !== 'exists') return state;
    const { workflow } = state;
    switch (event.type) {
      case 'WorkflowDeployed':
        return { status: 'exists', workflow: { ...workflow, deployed: event.data, updatedAt: event.data.deployedAt } };
      case 'WorkflowChanged': {
        const { changedAt, cancelsRuns: _, ...face } = event.data;
        const switchedAt = face.active === workflow.active ? workflow.switchedAt : changedAt;
        return { status: 'exists', workflow: { ...workflow, ...face, switchedAt, updatedAt: changedAt } };
      }
      case 'WorkflowDeleted':
        return { status: 'deleted', externalId: workflow.externalId };
    }
  },
};

const create = (
  { workflowId, userId, face, deployment, now }: WorkflowCommand & { readonly type: 'Create' },
  state: WorkflowState,
): WorkflowEvent[] => {
  // Two creations under one external id share the id of its reservation.
  if (state.status !== 'none') throw workflowBusy(workflowId);
  const created = { workflowId, userId, ...face, createdAt: now };
  return [{ type: 'WorkflowCreated', data: created }, deployed(deployment, 1, now)];
};

const deployed = (deployment: Deployment, version: number, deployedAt: number): WorkflowDeployed => ({
  type: 'WorkflowDeployed',
  data: { ...deployment, version, deployedAt },
});

const change = (
  workflow: WorkflowRecord,
  { cancelsRuns = false, ...changes }: Changes,
  changedAt: number,
): WorkflowEvent[] => {
  const face = faceOf(workflow);
  const next = { ...face, ...changes };
  if (!cancelsRuns && FACE.every((key) => face[key] === next[key])) return [];
  return [{ type: 'WorkflowChanged', data: { ...next, ...(cancelsRuns ? { cancelsRuns } : {}), changedAt } }];
};

const FACE = ['name', 'description', 'externalId', 'managedBy', 'active'] as const;

const faceOf = ({ name, description, externalId, managedBy, active }: WorkflowFace): WorkflowFace => ({
  name,
  description,
  externalId,
  managedBy,
  active,
});
