import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type Caller } from './callers.js';
import { workspaceOf } from './workspace.js';

/** Sources that are not deleted, in memory. */
export interface KnownSources {
  find(id: string): { readonly workspaceId: string } | undefined;
  /** Id of the source that has this name slug, from the end of its deployment on. */
  idOfSlug(workspaceId: string, slug: string): string | undefined;
}

export interface SourceInPath {
  readonly sourceId: string;
  readonly workspaceId: string;
}

/**
 * Finds the source that a path below `sources/` names: by its id in any workspace of the caller, else by its name slug in
 * the workspace in which the request acts (docs/reference/rest-api.md#source-id-or-slug). Throws source.not_found, also
 * for a source of another workspace, and workspace.required for a slug.
 */
export const sourceInPath = (sources: KnownSources, idOrSlug: string, caller: Caller): SourceInPath => {
  const sourceId = IS_SLUG.test(idOrSlug) ? sources.idOfSlug(workspaceOf(caller), idOrSlug) : idOrSlug;
  const found = sourceId !== undefined && isIdOf('dc', sourceId) ? sources.find(sourceId) : undefined;
  if (sourceId !== undefined && found && caller.workspaceIds.includes(found.workspaceId))
    return { sourceId, workspaceId: found.workspaceId };
  const shown = shownId(idOrSlug);
  throw new DomainError(
    'source.not_found',
    `there is no source ${shown} in your workspaces${otherKindHint(idOrSlug, 'dc')}`,
    {
      id: shown,
    },
  );
};

/** Ids have an underscore. */
const IS_SLUG = /^[a-z0-9-]+$/;
