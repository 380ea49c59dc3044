import { type Caller } from '#libs/http/callers.js';
import { type KnownSources } from '#libs/http/source-in-path.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';

/** Finds the workspace of a workflow of the caller. Throws workflow.not_found, also for one of another workspace. */
export const workspaceOfWorkflow = (emitters: Pick<KnownSources, 'find'>, id: string, caller: Caller): string => {
  const found = isIdOf('p', id) ? emitters.find(id) : undefined;
  if (found && caller.workspaceIds.includes(found.workspaceId)) return found.workspaceId;
  throw new DomainError('workflow.not_found', `there is no workflow ${shownId(id)}${otherKindHint(id, 'p')}`, {
    id: shownId(id),
  });
};
