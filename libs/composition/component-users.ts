import { type ComponentUsers } from '#libs/components/index.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type ControlPlane } from './control-plane.js';

/** Looks in the tables of sources and workflows of this process. */
export const componentUsers = (
  { sources, workflows }: Pick<ControlPlane['views'], 'sources' | 'workflows'>,
  blobs: Pick<BlobStore, 'get'>,
): ComponentUsers => ({
  of: async (componentId, workspaceId) => {
    const users = [...sources.all()].flatMap(([id, { name, workspaceId: owner, definition, next }]) =>
      owner === workspaceId && [definition, next?.definition].some((each) => each?.componentId === componentId)
        ? [{ id, name }]
        : [],
    );
    const found = [];
    for (const { id, name, workspaceId: owner, deploymentId, draft } of workflows.all()) {
      if (owner !== workspaceId) continue;
      for (const version of [deploymentId, draft?.id]) {
        const hash = typeof version === 'string' ? workflows.versionHash(id, version) : undefined;
        // The id of a component is in the plan of each step that runs it, and nowhere by chance.
        if (hash === undefined || (await blobs.get(hash))?.includes(componentId) !== true) continue;
        found.push({ id, name });
        break;
      }
    }
    return { sources: users, workflows: found };
  },
});
