import { createHash } from 'node:crypto';
import { type Decider } from '#libs/kernel/decider.js';
import { type DataStoreNameEvent } from '../published.js';

export type DataStoreNameCommand =
  | { readonly type: 'reserve'; readonly name: string; readonly storeId: string; readonly now: number }
  | { readonly type: 'release'; readonly name: string; readonly storeId: string; readonly now: number };

/** The data store that holds the name, and since when. */
export type DataStoreNameState = { readonly storeId: string; readonly reservedAt: number } | undefined;

/** A hash, because a name may be any text and a stream's name may not. */
export const nameStreamId = (workspaceId: string, name: string): string =>
  `${workspaceId}/${createHash('sha256').update(name).digest('hex')}`;

/** One stream per workspace and name, so that concurrent commands never name two data stores alike. */
export const dataStoreName: Decider<DataStoreNameCommand, DataStoreNameEvent, DataStoreNameState> = {
  category: 'datastorename',
  initialState: () => undefined,

  decide({ type, name, storeId, now }, state) {
    switch (type) {
      case 'reserve':
        return state ? [] : [{ type: 'DataStoreNameReserved', data: { name, storeId, reservedAt: now } }];
      case 'release':
        if (state?.storeId !== storeId) return [];
        return [{ type: 'DataStoreNameReleased', data: { name, storeId, releasedAt: now } }];
    }
  },

  evolve: (_, event) =>
    event.type === 'DataStoreNameReserved'
      ? { storeId: event.data.storeId, reservedAt: event.data.reservedAt }
      : undefined,
};
