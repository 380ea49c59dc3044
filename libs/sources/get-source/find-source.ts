import { type Caller } from '#libs/http/callers.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { isSlug } from '../domain/name-slug.js';
import { SOURCES, type SourceDoc } from '../read-models/sources.projection.js';

/**
 * `dc_…` is an id of a source that the caller may read, anything else a name slug in the workspace in which the call
 * acts. Undefined when no listed source matches. Throws workspace.required for a slug.
 */
export const findSource = async (
  readModels: ReadModelStore,
  idOrSlug: string,
  caller: Caller,
): Promise<SourceDoc | undefined> => {
  if (idOrSlug.startsWith('dc_')) {
    const doc = isIdOf('dc', idOrSlug) ? await readModels.get<SourceDoc>(SOURCES, idOrSlug) : undefined;
    return doc?.listed === 'yes' && caller.workspaceIds.includes(doc.workspaceId) ? doc : undefined;
  }
  if (!isSlug(idOrSlug)) return undefined;
  const where = { workspaceId: workspaceOf(caller), nameSlug: idOrSlug, listed: 'yes' };
  const { docs } = await readModels.page<SourceDoc>(SOURCES, { where, limit: 1, withTotal: false });
  return docs[0];
};
