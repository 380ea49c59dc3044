import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { shownId } from '#libs/kernel/ids.js';
import { type WorkflowDeployed, type WorkflowDraft, type WorkflowEvent, type WorkflowFace } from '../published.js';

/** A version as it is deployed. The decider gives it its number. */
export type Deployment = Omit<WorkflowDeployed['data'], 'version' | 'deployedAt'>;

/** A draft as it is saved. */
export type Draft = Omit<WorkflowDraft, 'savedAt'>;

/** Times are epoch milliseconds. */
export interface WorkflowRecord extends WorkflowFace {
  readonly workflowId: string;
  readonly userId: string;
  /** The version in force. Null before the first one. */
  readonly deployed: WorkflowDeployed['data'] | null;
  readonly draft: WorkflowDraft | null;
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

/** The version and the draft that a change was made from. */
export interface Basis {
  /** 0 before the first version. */
  readonly version: number;
  readonly draftId: string | null;
}

export const basisOf = ({ deployed, draft }: Pick<WorkflowRecord, 'deployed' | 'draft'>): Basis => ({
  version: deployed?.version ?? 0,
  draftId: draft?.draftId ?? null,
});

export type WorkflowCommand =
  | {
      readonly type: 'Create';
      readonly workflowId: string;
      readonly userId: string;
      readonly face: WorkflowFace;
      readonly first: { readonly deployment: Deployment } | { readonly draft: Draft };
      readonly now: number;
    }
  | {
      readonly type: 'Deploy';
      readonly deployment: Deployment;
      readonly basedOn: Basis;
      readonly changes: Changes;
      readonly now: number;
    }
  | {
      readonly type: 'SaveDraft';
      readonly draft: Draft;
      readonly basedOn: Basis;
      readonly changes: Changes;
      readonly now: number;
    }
  | { readonly type: 'DiscardDraft'; readonly now: number }
  /** `deploys`: id of a draft that equals the version in force, so that nothing is left of it to deploy. */
  | { readonly type: 'Change'; readonly changes: Changes; readonly deploys?: string | undefined; readonly now: number }
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

export const noDraft = (id: string): DomainError =>
  new DomainError('workflow.no_draft', `workflow ${id} has no draft`, { id });

export const notDeployed = (id: string): DomainError =>
  new DomainError('workflow.not_deployed', `workflow ${id} was never deployed: deploy it first`, { id });

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
        mustBeBasedOn(command.basedOn, workflow);
        const version = deployed(command.deployment, command.basedOn.version + 1, now);
        return [...change(workflow, command.changes, now), version, ...discarded(workflow, now)];
      }
      case 'SaveDraft':
        mustBeBasedOn(command.basedOn, workflow);
        return [...change(workflow, command.changes, now), saved(command.draft, now)];
      case 'DiscardDraft':
        if (!workflow.draft) throw noDraft(workflow.workflowId);
        return discarded(workflow, now);
      case 'Change':
        if (command.changes.active === true && !workflow.deployed) throw notDeployed(workflow.workflowId);
        if (command.deploys === undefined) return change(workflow, command.changes, now);
        if (command.deploys !== workflow.draft?.draftId) throw workflowBusy(workflow.workflowId);
        return [...change(workflow, command.changes, now), ...discarded(workflow, now)];
      case 'Delete':
        return [{ type: 'WorkflowDeleted', data: { deletedAt: now } }];
    }
  },

  evolve(state, event): WorkflowState {
    if (event.type === 'WorkflowCreated') {
      const { createdAt } = event.data;
      const workflow = { ...event.data, deployed: null, draft: null, switchedAt: createdAt, updatedAt: createdAt };
      return { status: 'exists', workflow };
    }
    if (state.status !== 'exists') return state;
    const { workflow } = state;
    switch (event.type) {
      case 'WorkflowDeployed':
        return { status: 'exists', workflow: { ...workflow, deployed: event.data, updatedAt: event.data.deployedAt } };
      case 'WorkflowDraftSaved':
        return { status: 'exists', workflow: { ...workflow, draft: event.data, updatedAt: event.data.savedAt } };
      case 'WorkflowDraftDiscarded':
        return { status: 'exists', workflow: { ...workflow, draft: null, updatedAt: event.data.discardedAt } };
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
  { workflowId, userId, face, first, now }: WorkflowCommand & { readonly type: 'Create' },
  state: WorkflowState,
): WorkflowEvent[] => {
  // Two creations under one external id share the id of its reservation.
  if (state.status !== 'none') throw workflowBusy(workflowId);
  const created = { workflowId, userId, ...face, createdAt: now };
  const content = 'deployment' in first ? deployed(first.deployment, 1, now) : saved(first.draft, now);
  return [{ type: 'WorkflowCreated', data: created }, content];
};

const mustBeBasedOn = ({ version, draftId }: Basis, workflow: WorkflowRecord): void => {
  const present = basisOf(workflow);
  if (present.version !== version || present.draftId !== draftId) throw workflowBusy(workflow.workflowId);
};

const saved = (draft: Draft, savedAt: number): WorkflowEvent => ({
  type: 'WorkflowDraftSaved',
  data: { ...draft, savedAt },
});

const discarded = ({ draft }: WorkflowRecord, discardedAt: number): WorkflowEvent[] =>
  draft === null ? [] : [{ type: 'WorkflowDraftDiscarded', data: { draftId: draft.draftId, discardedAt } }];

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
