import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type Emitters } from './ports.js';

const PREFIX = { source: 'dc', workflow: 'p' } as const;

/**
 * Finds the workspace of an emitter of the caller. Throws source.not_found or workflow.not_found, also for one of another
 * workspace.
 */
export const workspaceOfEmitter = (
  emitters: Emitters,
  workspaceIds: readonly string[],
  kind: keyof typeof PREFIX,
  id: string,
): string => {
  const prefix = PREFIX[kind];
  const found = isIdOf(prefix, id) ? emitters.find(id) : undefined;
  if (found && workspaceIds.includes(found.workspaceId)) return found.workspaceId;
  throw new DomainError(`${kind}.not_found`, `there is no ${kind} ${shownId(id)}${otherKindHint(id, prefix)}`, {
    id: shownId(id),
  });
};
