import { epochSeconds } from '#libs/kernel/clock.js';
import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { shownId } from '#libs/kernel/ids.js';
import { type Observation, type SourceDefinition, type SourceEvent, type SourceOwner } from '../published.js';
import { sameJson } from '#libs/kernel/same-json.js';

/** The fields of a source that an update can change. */
export interface SourceFace {
  readonly name: string;
  readonly nameSlug: string;
  readonly active: boolean;
  readonly definition: SourceDefinition;
}

/** The source in force, regardless of a running operation. Times are epoch milliseconds. */
export interface SourceRecord extends SourceFace {
  readonly sourceId: string;
  readonly userId: string;
  /** Absent for a source that belongs to no workflow. */
  readonly owner?: SourceOwner;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Vault records that the last operation left unused. The process that finishes the operation deletes them. */
  readonly unusedSecrets: readonly string[];
}

interface Running extends OfWorkflow {
  readonly since: number;
}

/** `workflowChange`: the change of the owner that the operation is part of. Absent for a source without an owner. */
interface OfWorkflow {
  readonly workflowChange?: string;
}

export type SourceState =
  | { readonly status: 'none' }
  | ({ readonly status: 'deploying'; readonly source: SourceRecord } & Running)
  | { readonly status: 'deployed'; readonly source: SourceRecord }
  | ({ readonly status: 'updating'; readonly source: SourceRecord; readonly next: SourceFace } & Running)
  | ({ readonly status: 'deleting'; readonly source: SourceRecord } & Running)
  /** Final: its deployment failed, or it was deleted. */
  | { readonly status: 'gone'; readonly source: SourceRecord };

interface Failure {
  readonly reason: string;
  readonly observations: readonly Observation[];
}

export type SourceCommand =
  | ({
      readonly type: 'StartDeployment';
      readonly sourceId: string;
      readonly userId: string;
      readonly name: string;
      readonly nameSlug: string;
      readonly definition: SourceDefinition;
      readonly active: boolean;
      readonly owner?: SourceOwner;
      readonly now: number;
    } & OfWorkflow)
  | { readonly type: 'FinishDeployment'; readonly now: number }
  | ({ readonly type: 'FailDeployment'; readonly now: number } & Failure)
  | ({
      readonly type: 'StartUpdate';
      readonly next: SourceFace;
      /** `updatedAt` of the record that `next` is based on. */
      readonly basedOn: number;
      readonly now: number;
    } & OfWorkflow)
  | { readonly type: 'FinishUpdate'; readonly now: number }
  | ({ readonly type: 'FailUpdate'; readonly now: number } & Failure)
  | ({ readonly type: 'StartDeletion'; readonly now: number } & OfWorkflow)
  | { readonly type: 'FinishDeletion'; readonly now: number }
  | ({ readonly type: 'FailDeletion'; readonly now: number } & Failure);

export const sourceNotFound = (id: string): DomainError =>
  new DomainError(
    'source.not_found',
    `there is no source ${shownId(id)} in your workspaces${otherKindHint(id, 'dc')}`,
    { id: shownId(id) },
  );

export const sourceInactive = (id: string): DomainError =>
  new DomainError('source.inactive', `source ${id} is inactive: enable it with PUT and active=true first`, { id });

/** Vault records that a definition uses. */
export const secretRefsOf = (definition: SourceDefinition): readonly string[] =>
  definition.props.flatMap((planned) => ('secretRef' in planned ? (planned.secretRef ?? []) : []));

/** Record of a listed source, which can be read and changed. Undefined for any other. */
export const deployedSource = (state: SourceState): SourceRecord | undefined =>
  state.status === 'deployed' || state.status === 'updating' || state.status === 'deleting' ? state.source : undefined;

/** Throws source.busy when an operation runs, source.not_found when there is no source. */
export const idleSource = (state: SourceState, id: string): SourceRecord => {
  switch (state.status) {
    case 'deployed':
      return state.source;
    case 'deploying':
    case 'updating':
    case 'deleting':
      throw new DomainError(
        'source.busy',
        `source ${state.source.sourceId} has been ${state.status} since ${new Date(state.since).toISOString()}: try again when that has ended`,
        { id: state.source.sourceId, operation: state.status },
      );
    case 'none':
    case 'gone':
      throw sourceNotFound(id);
  }
};

/** Throws source.owned_by_workflow for a change that is not part of one of its workflow. */
export const checkOwner = ({ sourceId, owner }: SourceRecord, workflowChange: string | undefined): void => {
  if (owner === undefined || workflowChange !== undefined) return;
  const { workflowId, trigger } = owner;
  throw new DomainError(
    'source.owned_by_workflow',
    `source ${sourceId} belongs to the trigger ${trigger} of workflow ${workflowId}: change it with PUT /v1/workflows/${workflowId}`,
    { id: sourceId, workflow_id: workflowId, trigger },
  );
};

/** Compares `if_updated_at`, the epoch seconds that the caller has read. Throws source.stale_update. */
export const checkNotStale = (source: SourceRecord, ifUpdatedAt: number | undefined): void => {
  const actual = epochSeconds(source.updatedAt);
  if (ifUpdatedAt === undefined || ifUpdatedAt === actual) return;
  throw new DomainError(
    'source.stale_update',
    `source ${source.sourceId} was updated at ${actual}, if_updated_at is ${ifUpdatedAt}: read it again, then repeat the change`,
    { field: 'if_updated_at', limit: actual, actual: ifUpdatedAt },
  );
};

export const sourceDecider: Decider<SourceCommand, SourceEvent, SourceState> = {
  category: 'source',
  initialState: () => ({ status: 'none' }),

  decide: (command, state) => {
    switch (command.type) {
      case 'StartDeployment': {
        if (state.status !== 'none') throw overtaken('deployment', state);
        const { type: _, active, now, ...given } = command;
        const data = { ...given, ...(active ? {} : { active }), startedAt: now };
        return [{ type: 'SourceDeploymentStarted', data }];
      }
      case 'FinishDeployment':
        if (state.status !== 'deploying') throw overtaken('deployment', state);
        return [{ type: 'SourceDeployed', data: { deployedAt: command.now } }];
      case 'FailDeployment':
        if (state.status !== 'deploying') return [];
        return [{ type: 'SourceDeploymentFailed', data: failed(command) }];
      case 'StartUpdate':
        return startUpdate(command, state);
      case 'FinishUpdate':
        if (state.status !== 'updating') throw overtaken('update', state);
        return [{ type: 'SourceUpdated', data: { updatedAt: nextUpdate(state.source, command.now) } }];
      case 'FailUpdate':
        if (state.status !== 'updating') return [];
        return [{ type: 'SourceUpdateFailed', data: failed(command) }];
      case 'StartDeletion':
        checkOwner(idleSource(state, 'without a record'), command.workflowChange);
        return [{ type: 'SourceDeletionStarted', data: { startedAt: command.now, ...changeOf(command) } }];
      case 'FinishDeletion':
        if (state.status !== 'deleting') throw overtaken('deletion', state);
        return [{ type: 'SourceDeleted', data: { deletedAt: command.now } }];
      case 'FailDeletion':
        if (state.status !== 'deleting') return [];
        return [{ type: 'SourceDeletionFailed', data: failed(command) }];
    }
  },

  evolve: (state, event) => evolve(state, event),
};

const startUpdate = (command: SourceCommand & { readonly type: 'StartUpdate' }, state: SourceState): SourceEvent[] => {
  const { next, basedOn, now } = command;
  const source = idleSource(state, 'without a record');
  checkOwner(source, command.workflowChange);
  if (source.updatedAt !== basedOn) {
    throw new DomainError(
      'source.busy',
      `source ${source.sourceId} was changed by another request meanwhile: try again`,
      {
        id: source.sourceId,
        operation: 'updating',
      },
    );
  }
  if (sameJson(next, faceOf(source))) return [];
  return [{ type: 'SourceUpdateStarted', data: { ...next, startedAt: now, ...changeOf(command) } }];
};

const changeOf = ({ workflowChange }: OfWorkflow): OfWorkflow =>
  workflowChange === undefined ? {} : { workflowChange };

const faceOf = ({ name, nameSlug, active, definition }: SourceRecord): SourceFace => ({
  name,
  nameSlug,
  active,
  definition,
});

const failed = ({ reason, observations, now }: Failure & { now: number }): Failure & { failedAt: number } => ({
  reason,
  observations,
  failedAt: now,
});

/** Assigns each update a later second, so that `if_updated_at` distinguishes updates of one second. */
const nextUpdate = (source: SourceRecord, now: number): number =>
  Math.max(now, (epochSeconds(source.updatedAt) + 1) * 1000);

/** Another process considered the running operation abandoned and ended it. */
const overtaken = (operation: string, state: SourceState): DomainError =>
  new DomainError(
    'source.busy',
    `the ${operation} of the source was ended by another process (the source is ${state.status}): try again`,
    { operation, status: state.status },
  );

const evolve = (state: SourceState, event: SourceEvent): SourceState => {
  switch (event.type) {
    case 'SourceDeploymentStarted': {
      const { startedAt, active = true, workflowChange: _, ...given } = event.data;
      const source = { ...given, active, createdAt: startedAt, updatedAt: startedAt, unusedSecrets: [] };
      return { status: 'deploying', source, since: startedAt, ...changeOf(event.data) };
    }
    case 'SourceDeployed': {
      if (state.status !== 'deploying') return state;
      const { deployedAt } = event.data;
      return { status: 'deployed', source: { ...state.source, createdAt: deployedAt, updatedAt: deployedAt } };
    }
    case 'SourceUpdateStarted': {
      if (state.status !== 'deployed') return state;
      const { startedAt, workflowChange: _, ...next } = event.data;
      return { status: 'updating', source: state.source, next, since: startedAt, ...changeOf(event.data) };
    }
    case 'SourceUpdated': {
      if (state.status !== 'updating') return state;
      const unusedSecrets = without(secretRefsOf(state.source.definition), secretRefsOf(state.next.definition));
      const { updatedAt } = event.data;
      return { status: 'deployed', source: { ...state.source, ...state.next, updatedAt, unusedSecrets } };
    }
    case 'SourceUpdateFailed': {
      if (state.status !== 'updating') return state;
      const unusedSecrets = without(secretRefsOf(state.next.definition), secretRefsOf(state.source.definition));
      return { status: 'deployed', source: { ...state.source, unusedSecrets } };
    }
    case 'SourceDeletionStarted':
      return state.status === 'deployed'
        ? { status: 'deleting', source: state.source, since: event.data.startedAt, ...changeOf(event.data) }
        : state;
    case 'SourceDeletionFailed':
      return state.status === 'deleting' ? { status: 'deployed', source: state.source } : state;
    case 'SourceDeploymentFailed':
    case 'SourceDeleted':
      return state.status === 'none' ? state : { status: 'gone', source: state.source };
    default:
      return state;
  }
};

const without = (refs: readonly string[], kept: readonly string[]): string[] =>
  refs.filter((ref) => !kept.includes(ref));
