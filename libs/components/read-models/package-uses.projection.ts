import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { type ComponentEvent, type ComponentPackagesRefreshed } from '../published.js';

/** Use of a version of an npm package by a component. */
export interface PackageUseDoc extends Doc {
  readonly workspaceId: string;
  readonly package: string;
  /** `name@version` */
  readonly packageVersion: string;
  /** Time of the save or refresh that added it, in fixed width. */
  readonly sort: string;
  readonly componentId: string;
  readonly name: string;
  readonly key: string | null;
  readonly kind: 'source' | 'action';
}

export const PACKAGE_USES: CollectionSchema = {
  name: 'components.package_uses.v1',
  indexed: ['workspaceId', 'package', 'packageVersion'],
  sort: 'sort',
};

const TYPES: readonly string[] = ['ComponentSaved', 'ComponentPackagesRefreshed'] satisfies ComponentEvent['type'][];

/** One document for each version in the lock of a component. */
export const packageUsesProjection: Projection<PackageUseDoc> = {
  name: PACKAGE_USES.name,
  schema: PACKAGE_USES,
  keys: (event) => {
    if (!TYPES.includes(event.type)) return [];
    const { packages, dropped = [] } = dataOf(event);
    return [...(packages?.uses ?? []), ...dropped].map((use) => `${idOf(event.stream)}:${use}`);
  },
  evolve: (_, event, id) => {
    const { packages, componentId, name, key, kind, savedAt } = dataOf(event);
    const use = id.slice(id.indexOf(':') + 1);
    if (packages?.uses.includes(use) !== true) return undefined;
    return {
      id,
      workspaceId: event.metadata.workspaceId,
      package: use.slice(0, use.lastIndexOf('@')),
      packageVersion: use,
      sort: String(savedAt).padStart(15, '0'),
      componentId,
      name,
      key,
      kind,
    };
  },
};

/** Only called for the types above. */
const dataOf = ({ data }: RecordedEvent): ComponentPackagesRefreshed['data'] =>
  data as ComponentPackagesRefreshed['data'];
