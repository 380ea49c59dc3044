import { DomainError } from './domain-error.js';
import { type CollectionSchema, type ReadModelStore, type Where } from './read-model-store.js';

/** Limits on the number of resources. The count is read before a creation, so concurrent creations may exceed them. */
export interface ResourceLimits {
  readonly sourcesPerWorkspace: number;
  readonly webhooksPerWorkspace: number;
  readonly subscriptionsPerWorkspace: number;
  readonly autoSubscriptionsPerWorkspace: number;
  readonly dataStoresPerWorkspace: number;
  readonly accountsPerWorkspace: number;
  readonly apiKeysPerUser: number;
  readonly membersPerWorkspace: number;
  /** Limit on bytes of component code and bundles. */
  readonly codeBytesPerWorkspace: number;
}

export const RESOURCE_LIMITS = Symbol('ResourceLimits');

export const DEFAULT_RESOURCE_LIMITS: ResourceLimits = {
  sourcesPerWorkspace: 10_000,
  webhooksPerWorkspace: 10_000,
  subscriptionsPerWorkspace: 10_000,
  autoSubscriptionsPerWorkspace: 20,
  dataStoresPerWorkspace: 100,
  accountsPerWorkspace: 1_000,
  apiKeysPerUser: 100,
  membersPerWorkspace: 100,
  codeBytesPerWorkspace: 1024 * 1024 * 1024,
};

export interface CountedResource {
  /** Plural noun for the error text. */
  readonly what: string;
  readonly owner: 'workspace' | 'user';
  readonly limit: number;
  /** Name of the setting that raises it. Absent when the limit is fixed. */
  readonly setting?: string;
}

/** Throws workspace.limit_reached when the count has reached the limit. */
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
    `this ${owner} has ${total} ${what}, the limit is ${limit}: delete some${setting === undefined ? '' : `, or have ${setting} raised`}`,
    { limit, actual: total, ...(setting === undefined ? {} : { setting }) },
  );
};
