import { DomainError } from '#libs/kernel/domain-error.js';

/** Throws workspace.limit_reached when a workspace with this many members is full. */
export const mustHaveRoomFor = (total: number, limit: number): void => {
  if (total < limit) return;
  throw new DomainError(
    'workspace.limit_reached',
    `this workspace has ${total} members, the limit is ${limit}: remove some`,
    { limit, actual: total },
  );
};
