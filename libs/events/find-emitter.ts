import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type Emitters } from './ports.js';

/** Finds the workspace of a source of the caller. Throws source.not_found, also for a source of another workspace. */
export const workspaceOfSource = (emitters: Emitters, workspaceIds: readonly string[], sourceId: string): string => {
  const found = isIdOf('dc', sourceId) ? emitters.find(sourceId) : undefined;
  if (found && workspaceIds.includes(found.workspaceId)) return found.workspaceId;
  throw new DomainError('source.not_found', `there is no source ${shownId(sourceId)}${otherKindHint(sourceId, 'dc')}`, {
    id: shownId(sourceId),
  });
};
