import { DomainError } from './domain-error.js';
import { type CollectionSchema, type ReadModelStore, type Where } from './read-model-store.js';

/** How many resources there may be. A count is read before one is made: those made at the same moment may pass it. */
export interface ResourceLimits {
  readonly sourcesPerWorkspace: number;
  readonly webhooksPerWorkspace: number;
  readonly subscriptionsPerWorkspace: number;
  readonly apiKeysPerUser: number;
  /** Of components, their code and bundles. */
  readonly codeBytesPerWorkspace: number;
}

/** Optional; DEFAULT_RESOURCE_LIMITS when it is not provided. */
export const RESOURCE_LIMITS = Symbol('ResourceLimits');

export const DEFAULT_RESOURCE_LIMITS: ResourceLimits = {
  sourcesPerWorkspace: 10_000,
  webhooksPerWorkspace: 10_000,
  subscriptionsPerWorkspace: 10_000,
  apiKeysPerUser: 100,
  codeBytesPerWorkspace: 1024 * 1024 * 1024,
};

export interface CountedResource {
  /** Plural, for the error text. */
  readonly what: string;
  readonly owner: 'workspace' | 'user';
  readonly limit: number;
  /** Name of the setting that raises it. */
  readonly setting: string;
}

/** Throws workspace.limit_reached when as many as the limit are there. */
export const checkRoom = async (
  readModels: ReadModelStore,
  schema: CollectionSchema,
  where: Where,
  { what, owner, limit, setting }: CountedResource,
): Promise<void> => {
  const { total } = await readModels.page(schema, { where, limit: 1 });
  if (total < limit) return;
  throw new DomainError(
    'workspace.limit_reached',
    `this ${owner} has ${total} ${what}, the limit is ${limit}: delete some, or have ${setting} raised`,
    { limit, actual: total, setting },
  );
};
