import { named, revisionField, seconds, text, type TypeOf } from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';

interface Shown {
  readonly id: string;
  readonly name: string;
  /** Epoch ms as a number or as fixed-width text. */
  readonly createdAt: number | string;
  readonly updatedAt: number;
  readonly revision: number;
}

/** Data store as in docs/reference/rest-api.md#data-store-fields. */
export const DataStoreSchema = named('DataStore', {
  id: text('`ds_…`'),
  owner_id: text('The workspace'),
  name: text('Unique in the workspace'),
  revision: revisionField(),
  created_at: seconds(),
  updated_at: seconds('Epoch seconds of the last change of the name'),
});

export type DataStoreReply = TypeOf<typeof DataStoreSchema>;

export const dataStoreReply = (store: Shown, workspaceId: string): DataStoreReply => ({
  id: store.id,
  owner_id: workspaceId,
  name: store.name,
  revision: store.revision,
  created_at: epochSeconds(Number(store.createdAt)),
  updated_at: epochSeconds(store.updatedAt),
});
