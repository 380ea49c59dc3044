import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type NotifiedSources } from './ports.js';

/** Finds the workspace of a source of the caller. Throws source.not_found, also for one of another workspace. */
export const workspaceOfSource = (sources: NotifiedSources, workspaceIds: readonly string[], id: string): string => {
  const found = isIdOf('dc', id) ? sources.find(id) : undefined;
  if (found && workspaceIds.includes(found.workspaceId)) return found.workspaceId;
  throw new DomainError('source.not_found', `there is no source ${shownId(id)}${otherKindHint(id, 'dc')}`, {
    id: shownId(id),
  });
};
