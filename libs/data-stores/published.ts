/** Published contract of data stores: their events, and how a source finds or makes one. */
import { type CommandContext } from '#libs/kernel/handle-command.js';

export interface DataStoreCreated {
  readonly type: 'DataStoreCreated';
  readonly data: {
    readonly storeId: string;
    readonly userId: string;
    readonly name: string;
    readonly createdAt: number;
  };
}
export interface DataStoreRenamed {
  readonly type: 'DataStoreRenamed';
  readonly data: { readonly name: string; readonly renamedAt: number };
}
export interface DataStoreDeleted {
  readonly type: 'DataStoreDeleted';
  readonly data: { readonly deletedAt: number };
}
export type DataStoreEvent = DataStoreCreated | DataStoreRenamed | DataStoreDeleted;

/** First step of a creation or a new name. The stream is `datastorename-{workspace}/{SHA-256 of the name}`. */
export interface DataStoreNameReserved {
  readonly type: 'DataStoreNameReserved';
  readonly data: { readonly name: string; readonly storeId: string; readonly reservedAt: number };
}
export interface DataStoreNameReleased {
  readonly type: 'DataStoreNameReleased';
  readonly data: { readonly name: string; readonly storeId: string; readonly releasedAt: number };
}
export type DataStoreNameEvent = DataStoreNameReserved | DataStoreNameReleased;

/** Finds the data store that a source's prop names. */
export interface DataStoreCatalog {
  /**
   * Resolves with the id of the workspace's data store that has this id or this name. Creates one for an unused name;
   * two calls at once create one. Throws data_store.not_found for an id, data_store.invalid_name, and
   * workspace.limit_reached.
   */
  resolve(idOrName: string, context: CommandContext): Promise<string>;
}
export const DATA_STORE_CATALOG = Symbol('DataStoreCatalog');
