import { DomainError } from './domain-error.js';
import { type CollectionSchema, type ReadModelStore, type Where } from './read-model-store.js';

/** Limits on the number of resources, which each context declares (Context.limits). */
export const RESOURCE_LIMITS = Symbol('ResourceLimits');

export interface CountedResource {
  /** Plural noun for the error text. */
  readonly what: string;
  readonly owner: 'workspace' | 'user';
  readonly limit: number;
  /** Name of the setting that raises it. Absent when the limit is fixed. */
  readonly setting?: string;
}

/** Throws workspace.limit_reached when the count has reached the limit. Concurrent creations may exceed it. */
export const checkRoom = async (
  readModels: ReadModelStore,
  schema: CollectionSchema,
  where: Where,
  counted: CountedResource,
): Promise<void> => {
  const { total } = await readModels.page(schema, { where, limit: 1 });
  mustHaveRoom(total, counted);
};

/** Throws workspace.limit_reached when there are as many already as there may be. */
export const mustHaveRoom = (total: number, { what, owner, limit, setting }: CountedResource): void => {
  if (total < limit) return;
  throw new DomainError(
    'workspace.limit_reached',
    `this ${owner} has ${total} ${what}, the limit is ${limit}: delete some${setting === undefined ? '' : `, or have ${setting} raised`}`,
    { limit, actual: total, ...(setting === undefined ? {} : { setting }) },
  );
};
