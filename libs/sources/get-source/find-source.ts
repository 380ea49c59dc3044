import { isIdOf } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { isSlug } from '../domain/name-slug.js';
import { SOURCES, type SourceDoc } from '../read-models/sources.projection.js';

/** `dc_…` is an id, anything else a name slug in these workspaces. Undefined when no listed source matches. */
export const findSource = async (
  readModels: ReadModelStore,
  idOrSlug: string,
  workspaceIds: readonly string[],
): Promise<SourceDoc | undefined> => {
  if (idOrSlug.startsWith('dc_')) {
    const doc = isIdOf('dc', idOrSlug) ? await readModels.get<SourceDoc>(SOURCES, idOrSlug) : undefined;
    return doc?.listed === 'yes' && workspaceIds.includes(doc.workspaceId) ? doc : undefined;
  }
  if (!isSlug(idOrSlug)) return undefined;
  for (const workspaceId of workspaceIds) {
    const where = { workspaceId, nameSlug: idOrSlug, listed: 'yes' };
    const { docs } = await readModels.page<SourceDoc>(SOURCES, { where, limit: 1, withTotal: false });
    if (docs[0]) return docs[0];
  }
  return undefined;
};
