import { type Projection } from '#libs/kernel/projection.js';
import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { type ComponentEvent, type ComponentSaved } from '../published.js';

/** Size of the code and bundles of a workspace; `id` is the workspace's. */
export interface CodeSizeDoc extends Doc {
  readonly bytes: number;
  /** Position of the last event in the sum, so that a replay adds nothing. */
  readonly through: string;
}

export const CODE_SIZES: CollectionSchema = { name: 'components.code_sizes.v1', indexed: [], sort: 'through' };

const TYPES: readonly string[] = ['ComponentSaved', 'ComponentPackagesRefreshed'] satisfies ComponentEvent['type'][];

/**
 * The bytes of a refresh are those of the new bundle, because the former one stays for sources that run it. Those of a
 * deleted component stay in the sum, as its code stays in the store.
 */
export const codeSizesProjection: Projection<CodeSizeDoc> = {
  name: CODE_SIZES.name,
  schema: CODE_SIZES,
  keys: (event) => (TYPES.includes(event.type) ? [event.metadata.workspaceId] : []),
  evolve: (doc, event, id) => {
    const through = String(event.position).padStart(20, '0');
    if (doc !== undefined && through <= doc.through) return doc;
    const { bytes } = event.data as ComponentSaved['data'];
    return { id, bytes: (doc?.bytes ?? 0) + bytes, through };
  },
};
