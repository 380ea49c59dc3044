import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type SavedComponent } from './domain/component.js';
import { listedComponent } from './get-component/find-component.js';
import { COMPONENTS, type ComponentDoc } from './read-models/components.projection.js';

/** Actions as the tools of a workspace show them. */
export const toolActions = (readModels: ReadModelStore) => ({
  find: async (componentId: string) => {
    const doc = await readModels.get<ComponentDoc>(COMPONENTS, componentId);
    return doc && shown(doc.component);
  },
  /** The actions that the registry lists under these keys. */
  ofRegistry: async (keys: readonly string[]): Promise<readonly ReturnType<typeof shown>[]> => {
    const found = await Promise.all(keys.map((key) => listedComponent(readModels, key)));
    return found.flatMap((doc) => (doc?.component.kind === 'action' ? [shown(doc.component)] : []));
  },
});

const shown = (component: SavedComponent) => ({
  ...component,
  hasAdditionalProps: component.hasAdditionalProps === true,
});
