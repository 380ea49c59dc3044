import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CODE_SIZES, type CodeSizeDoc } from '../read-models/code-sizes.projection.js';

/**
 * Throws workspace.limit_reached when `more` bytes would take the workspace's code and bundles above `limit` bytes.
 * Concurrent saves may exceed the limit.
 */
export const checkCodeRoom = async (
  readModels: ReadModelStore,
  workspaceId: string,
  more: number,
  limit: number,
): Promise<void> => {
  const saved = (await readModels.get<CodeSizeDoc>(CODE_SIZES, workspaceId))?.bytes ?? 0;
  const actual = saved + more;
  if (actual <= limit) return;
  throw new DomainError(
    'workspace.limit_reached',
    `the components of this workspace would have ${actual} bytes of code and bundles, the limit is ${limit} bytes: ` +
      'deploy a component that is saved already',
    { limit, actual },
  );
};
