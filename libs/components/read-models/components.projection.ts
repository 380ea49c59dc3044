import { type RecordedEvent } from '#libs/kernel/events.js';
import { idOf } from '#libs/kernel/events.js';
import { type CollectionSchema } from '#libs/kernel/read-model-store.js';
import { withRevision, type Revised } from '#libs/kernel/with-revision.js';
import { componentDecider, type ComponentState, type SavedComponent } from '../domain/component.js';
import { type ComponentEvent } from '../published.js';

export interface ComponentDoc extends Revised {
  readonly workspaceId: string;
  /** Empty when the component declares none. */
  readonly key: string;
  readonly kind: SavedComponent['kind'];
  /** `updatedAt` in fixed width. */
  readonly sort: string;
  readonly component: SavedComponent;
}

export const COMPONENTS: CollectionSchema = {
  name: 'components.components.v3',
  indexed: ['workspaceId', 'key', 'kind'],
  sort: 'sort',
};

const TYPES: readonly string[] = [
  'ComponentSaved',
  'ComponentSavedAgain',
  'ComponentPackagesRefreshed',
  'ComponentDeleted',
] satisfies ComponentEvent['type'][];

/** Saved components, for look-ups by id and by key. */
export const componentsProjection = withRevision<ComponentDoc>({
  name: COMPONENTS.name,
  schema: COMPONENTS,
  keys: (event) => (TYPES.includes(event.type) ? [idOf(event.stream)] : []),
  evolve: (doc, event, id) => {
    const before: ComponentState = doc ? { status: 'saved', component: doc.component } : { status: 'none' };
    const state = componentDecider.evolve(before, componentEvent(event));
    if (state.status === 'none') return undefined;
    const { component } = state;
    return {
      id,
      workspaceId: doc?.workspaceId ?? event.metadata.workspaceId,
      key: component.key ?? '',
      kind: component.kind,
      sort: String(component.updatedAt).padStart(15, '0'),
      component,
    };
  },
});

/** Only called for the types above. */
const componentEvent = ({ type, data }: RecordedEvent): ComponentEvent => ({ type, data }) as ComponentEvent;
