import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type Caller } from './callers.js';
import { workspaceOf } from './workspace.js';

/** Workflows that are not deleted, in memory. */
export interface KnownWorkflows<T extends { readonly workspaceId: string }> {
  find(id: string): T | undefined;
  /** Id of the workflow that has this external id. */
  idOfExternal(externalId: string, workspaceId: string): string | undefined;
}

const EXTERNAL = 'ext:';

/** The external id in a path. Undefined for an id. */
export const externalIdIn = (w: string): string | undefined =>
  w.startsWith(EXTERNAL) ? w.slice(EXTERNAL.length) : undefined;

/**
 * Finds the workflow that a path names: by its id in any workspace of the caller, else by its external id in the
 * workspace in which the request acts (docs/reference/workflows.md#external-id). Throws workflow.not_found, also for a
 * workflow of another workspace, and workspace.required for an external id.
 */
export const workflowInPath = <T extends { readonly workspaceId: string }>(
  workflows: KnownWorkflows<T>,
  w: string,
  caller: Caller,
): readonly [id: string, workflow: T] => {
  const externalId = externalIdIn(w);
  const id = externalId === undefined ? w : workflows.idOfExternal(externalId, workspaceOf(caller));
  const found = id !== undefined && isIdOf('p', id) ? workflows.find(id) : undefined;
  if (id !== undefined && found && caller.workspaceIds.includes(found.workspaceId)) return [id, found];
  throw new DomainError(
    'workflow.not_found',
    `there is no workflow ${shownId(w)} in your workspaces${otherKindHint(w, 'p')}`,
    { id: shownId(w) },
  );
};
