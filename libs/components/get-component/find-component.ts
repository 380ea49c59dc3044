import { type Caller } from '#libs/http/callers.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { type Page, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { isNewerVersion, isWanted } from '../domain/version-order.js';
import { COMPONENTS, type ComponentDoc } from '../read-models/components.projection.js';
import { REGISTRY_WORKSPACE, registryEntryId } from '../registry/registry-entry.js';
import { REGISTRY, type RegistryDoc } from '../registry/registry.projection.js';

export interface FoundComponent {
  readonly doc: ComponentDoc;
  /** Workspace in which a call with this reference acts. */
  readonly workspaceId: string;
}

/**
 * `sc_…` is an id of a component that the caller may read, anything else a key. The key is looked up in the workspace in
 * which the call acts, then in the registry, and in no other workspace of the caller, whose members choose their keys.
 * See docs/reference/rest-api.md#component-key-lookup. Throws workspace.required for a key.
 */
export const findComponent = async (
  readModels: ReadModelStore,
  keyOrId: string,
  caller: Caller,
): Promise<FoundComponent | undefined> => {
  if (!keyOrId.startsWith('sc_')) {
    const workspaceId = workspaceOf(caller);
    const doc = await componentByKey(readModels, keyOrId, workspaceId);
    return doc && { doc, workspaceId };
  }
  const doc = isIdOf('sc', keyOrId) ? await readModels.get<ComponentDoc>(COMPONENTS, keyOrId) : undefined;
  if (doc?.workspaceId === REGISTRY_WORKSPACE) return { doc, workspaceId: workspaceOf(caller) };
  return doc && caller.workspaceIds.includes(doc.workspaceId) ? { doc, workspaceId: doc.workspaceId } : undefined;
};

export interface Wanted {
  /** As in ComponentReference. Any version when undefined. */
  readonly version: string | undefined;
  readonly ownOnly: boolean;
}

const ANY: Wanted = { version: undefined, ownOnly: false };

/**
 * Finds the newest wanted version in the workspace, among equal ones the last saved, else the component that the
 * registry lists.
 */
export const componentByKey = async (
  readModels: ReadModelStore,
  key: string,
  workspaceId: string,
  { version, ownOnly } = ANY,
): Promise<ComponentDoc | undefined> => {
  if (!mayBeKey(key)) return undefined;
  const fits = ({ component }: ComponentDoc): boolean => version === undefined || isWanted(component.version, version);
  let newest: ComponentDoc | undefined;
  for await (const doc of byKey(readModels, workspaceId, key))
    if (fits(doc) && (!newest || isNewerVersion(doc.component, newest.component))) newest = doc;
  if (newest || ownOnly) return newest;
  const listed = await listedComponent(readModels, key);
  return listed && fits(listed) ? listed : undefined;
};

/** The component that the registry lists under a key. */
export const listedComponent = async (readModels: ReadModelStore, key: string): Promise<ComponentDoc | undefined> => {
  const listed = await readModels.get<RegistryDoc>(REGISTRY, registryEntryId(key));
  return listed && readModels.get<ComponentDoc>(COMPONENTS, listed.entry.componentId);
};

/** Refuses the empty text, under which components without a key are stored. Older keys may be longer than new ones. */
const mayBeKey = (text: string): boolean => text !== '' && text.length <= MAX_KEY && !text.includes('\0');
const MAX_KEY = 8_192;

const PAGE = 100;

async function* byKey(readModels: ReadModelStore, workspaceId: string, key: string): AsyncIterable<ComponentDoc> {
  let after: string | undefined;
  do {
    const page: Page<ComponentDoc> = await readModels.page<ComponentDoc>(COMPONENTS, {
      where: { workspaceId, key },
      limit: PAGE,
      withTotal: false,
      ...(after === undefined ? {} : { after }),
    });
    yield* page.docs;
    after = page.docs.length === PAGE ? page.docs.at(-1)?.id : undefined;
  } while (after !== undefined);
}
