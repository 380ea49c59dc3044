import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandResult } from '#libs/kernel/handle-command.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type JsonObject } from './domain/check-shape.js';
import { objectIn, textIn } from './domain/definition-rules.js';
import { type StoredVersion } from './domain/stored-version.js';
import { type Changes, type WorkflowRecord, type WorkflowState } from './domain/workflow.js';
import { type WorkflowFace } from './published.js';

/** What a request has beside its definition, or in its query. */
export interface Beside {
  readonly strict?: boolean | undefined;
  readonly active?: boolean | undefined;
  readonly refresh?: boolean | undefined;
  readonly draft?: boolean | undefined;
  readonly cancel_runs?: boolean | undefined;
  readonly ignore_hook_errors?: boolean | undefined;
  readonly managed_by?: string | null | undefined;
}

/** A workflow as a command left it. */
export interface SavedWorkflow {
  readonly workflow: WorkflowRecord;
  readonly revision: number;
  readonly workspaceId: string;
  /** What a reply shows. Undefined for a workflow that was never deployed. */
  readonly stored: StoredVersion | undefined;
  /** Whether that is its draft. */
  readonly isDraft?: boolean;
  readonly warnings: readonly Warning[];
  readonly position: Position | undefined;
}

export const savedWorkflow = (
  { state, revision, position }: CommandResult<WorkflowState>,
  more: Pick<SavedWorkflow, 'stored' | 'isDraft' | 'warnings' | 'workspaceId'>,
): SavedWorkflow => {
  if (state.status !== 'exists') throw new Error(`a workflow is ${state.status} after it was saved`);
  return { workflow: state.workflow, revision: Number(revision), position, ...more };
};

/** The given of what is no part of a version. The definition is checked. */
export const givenFace = (definition: JsonObject, beside: Beside): Partial<WorkflowFace> => {
  const name = textIn(definition, 'name');
  const description = textIn(definition, 'description');
  const externalId = textIn(definition, 'external_id');
  const managedBy = managedByOf(definition, beside);
  const active = [definition['active'], beside.active, objectIn(definition, 'settings')['active']].find(
    (each) => typeof each === 'boolean',
  );
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(managedBy === undefined ? {} : { managedBy }),
    ...(active === undefined ? {} : { active }),
  };
};

const managedByOf = (definition: JsonObject, beside: Beside): string | null | undefined => {
  if (Object.hasOwn(definition, 'managed_by')) return textIn(definition, 'managed_by') ?? null;
  return beside.managed_by;
};

/** Whether the request saves a draft. Throws request.invalid_parameter when it cancels runs too. */
export const savesDraft = (definition: JsonObject, beside: Beside): boolean => {
  const isDraft = [definition['draft'], beside.draft].find((each) => typeof each === 'boolean') === true;
  if (!isDraft || (definition['cancel_runs'] !== true && beside.cancel_runs !== true)) return isDraft;
  throw new DomainError(
    'request.invalid_parameter',
    'cancel_runs cancels runs now, and a draft changes nothing that runs',
    {
      field: 'cancel_runs',
    },
  );
};

/** Whether the request cancels runs. Throws request.invalid_parameter when it leaves the workflow active. */
export const cancelsRuns = (definition: JsonObject, beside: Beside): Pick<Changes, 'cancelsRuns'> => {
  if (definition['cancel_runs'] !== true && beside.cancel_runs !== true) return {};
  if (givenFace(definition, beside).active === false) return { cancelsRuns: true };
  throw new DomainError('request.invalid_parameter', 'cancel_runs needs active: false beside it', {
    field: 'cancel_runs',
    needs: 'active: false',
  });
};
