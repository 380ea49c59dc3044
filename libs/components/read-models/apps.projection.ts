import { type RecordedEvent } from '#libs/kernel/events.js';
import { derivedId } from '#libs/kernel/ids.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { type ComponentEvent } from '../published.js';

/** An app that a component of a workspace names in a prop. It stays when the component is deleted. */
export interface AppDoc extends Doc {
  readonly workspaceId: string;
  readonly slug: string;
  /** The id, because a slug has no fixed width. */
  readonly sort: string;
}

export const APPS: CollectionSchema = { name: 'components.apps.v1', indexed: ['workspaceId', 'slug'], sort: 'sort' };

export const appsProjection: Projection<AppDoc> = {
  name: APPS.name,
  schema: APPS,
  keys: (event) => slugsIn(event).map((slug) => docId(event, slug)),
  evolve: (doc, event, id) => {
    const slug = slugsIn(event).find((each) => docId(event, each) === id);
    return doc ?? (slug === undefined ? undefined : { id, workspaceId: event.metadata.workspaceId, slug, sort: id });
  },
};

const docId = ({ metadata }: RecordedEvent, slug: string): string => derivedId('app', metadata.workspaceId, slug);

const slugsIn = ({ type, data }: RecordedEvent): readonly string[] => {
  const saved = { type, data } as ComponentEvent;
  if (saved.type !== 'ComponentSaved') return [];
  const slugs = saved.data.configurableProps.flatMap(({ type: kind, app }) =>
    kind === 'app' && app !== undefined && app !== '' ? [app] : [],
  );
  return [...new Set(slugs)];
};
