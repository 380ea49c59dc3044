import { isIdOf } from '#libs/kernel/ids.js';
import { type Page, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { compareVersions } from '../domain/version-order.js';
import { COMPONENTS, type ComponentDoc } from '../read-models/components.projection.js';

/**
 * `sc_…` is an id, anything else a key. The newest version wins, then the one saved last. Undefined when these
 * workspaces have no match. See docs/reference/rest-api.md#component-key-lookup.
 */
export const findComponent = async (
  readModels: ReadModelStore,
  keyOrId: string,
  workspaceIds: readonly string[],
): Promise<ComponentDoc | undefined> => {
  if (keyOrId.startsWith('sc_')) {
    const doc = isIdOf('sc', keyOrId) ? await readModels.get<ComponentDoc>(COMPONENTS, keyOrId) : undefined;
    return doc && workspaceIds.includes(doc.workspaceId) ? doc : undefined;
  }
  if (!mayBeKey(keyOrId)) return undefined;
  let newest: ComponentDoc | undefined;
  for (const workspaceId of workspaceIds) {
    for await (const doc of byKey(readModels, workspaceId, keyOrId)) {
      if (!newest || isNewer(doc, newest)) newest = doc;
    }
  }
  return newest;
};

/** Refuses the empty text, under which components without a key are stored. Older keys may be longer than new ones. */
const mayBeKey = (text: string): boolean => text !== '' && text.length <= MAX_KEY && !text.includes('\0');
const MAX_KEY = 8_192;

const isNewer = (a: ComponentDoc, b: ComponentDoc): boolean => {
  const order = compareVersions(a.component.version, b.component.version);
  return order === 0 ? a.sort > b.sort : order > 0;
};

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
