import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type CollectionSchema, type Doc, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type RegistryEntry, type RegistryEvent } from './registry-entry.js';

export interface RegistryDoc extends Doc {
  readonly key: string;
  /** Equal for all entries, so that they can be read in pages. */
  readonly registry: string;
  /** Its id, because the order does not matter. */
  readonly sort: string;
  readonly entry: RegistryEntry;
}

export const REGISTRY: CollectionSchema = {
  name: 'components.registry.v1',
  indexed: ['key', 'registry'],
  sort: 'sort',
};

const ALL = 'all';
const TYPES: readonly string[] = ['RegistryEntryListed', 'RegistryEntryRemoved'] satisfies RegistryEvent['type'][];

/** Entries of the registry that are listed now. */
export const registryProjection: Projection<RegistryDoc> = {
  name: REGISTRY.name,
  schema: REGISTRY,
  keys: (event) => (TYPES.includes(event.type) ? [idOf(event.stream)] : []),
  evolve: (_, event, id) => {
    const { type, data } = registryEvent(event);
    return type === 'RegistryEntryListed' ? { id, key: data.key, registry: ALL, sort: id, entry: data } : undefined;
  },
};

/** Only called for the types above. */
const registryEvent = ({ type, data }: RecordedEvent): RegistryEvent => ({ type, data }) as RegistryEvent;

const PAGE = 100;

/** All entries, in no meaningful order. */
export async function* registryEntries(readModels: ReadModelStore): AsyncIterable<RegistryEntry> {
  let after: string | undefined;
  do {
    const page = await readModels.page<RegistryDoc>(REGISTRY, {
      where: { registry: ALL },
      limit: PAGE,
      withTotal: false,
      ...(after === undefined ? {} : { after }),
    });
    for (const { entry } of page.docs) yield entry;
    after = page.docs.length === PAGE ? page.docs.at(-1)?.id : undefined;
  } while (after !== undefined);
}
