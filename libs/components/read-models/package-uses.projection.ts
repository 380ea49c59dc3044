import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { type ComponentDeleted, type ComponentEvent, type ComponentPackagesRefreshed } from '../published.js';

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

const isDeletion = (event: RecordedEvent): event is RecordedEvent<ComponentDeleted> =>
  event.type === ('ComponentDeleted' satisfies ComponentEvent['type']);

/** One document for each version in the lock of a component. */
export const packageUsesProjection: Projection<PackageUseDoc> = {
  name: PACKAGE_USES.name,
  schema: PACKAGE_USES,
  keys: (event) => {
    const docId = (use: string): string => `${idOf(event.stream)}:${use}`;
    if (isDeletion(event)) return (event.data.uses ?? []).map(docId);
    if (!TYPES.includes(event.type)) return [];
    const { packages, dropped = [] } = dataOf(event);
    return [...(packages?.uses ?? []), ...dropped].map(docId);
  },
  evolve: (_, event, id) => {
    if (isDeletion(event)) return undefined;
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
