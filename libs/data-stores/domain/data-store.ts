import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type DataStoreEvent } from '../published.js';

export type DataStoreCommand =
  | {
      readonly type: 'create';
      readonly storeId: string;
      readonly userId: string;
      readonly name: string;
      readonly now: number;
    }
  | { readonly type: 'rename'; readonly name: string; readonly now: number }
  | { readonly type: 'delete'; readonly now: number };

export interface ExistingDataStore {
  readonly status: 'exists';
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type DataStoreState =
  | ExistingDataStore
  | { readonly status: 'none' }
  /** Keeps the name, so that a repeated deletion can release it. */
  | { readonly status: 'deleted'; readonly name: string };

export const MAX_NAME = 255;

/** Name without blanks around it. Throws data_store.invalid_name. See docs/reference/rest-api.md#data-store-name. */
export const checkedName = (given: string): string => {
  const name = given.trim();
  const fault =
    name === ''
      ? 'it is empty'
      : name.length > MAX_NAME
        ? `it has ${name.length} characters, the limit is ${MAX_NAME}`
        : /^ds_/.test(name)
          ? 'it begins with ds_, as the ids of data stores do'
          : /[\u0000-\u001f\u007f]/.test(name)
            ? 'it holds a control character'
            : undefined;
  if (fault === undefined) return name;
  const shown = JSON.stringify(name.slice(0, 100));
  throw new DomainError('data_store.invalid_name', `name ${shown} of a data store: ${fault}: choose another name`, {
    field: 'name',
    limit: MAX_NAME,
    actual: name.length,
  });
};

export const dataStore: Decider<DataStoreCommand, DataStoreEvent, DataStoreState> = {
  category: 'datastore',
  initialState: () => ({ status: 'none' }),

  decide(command, state): DataStoreEvent[] {
    if (command.type === 'create') {
      // Two creations under one name share the id of the reservation, so the second finds the result of the first.
      if (state.status !== 'none') return [];
      const { storeId, userId, now } = command;
      return [{ type: 'DataStoreCreated', data: { storeId, userId, name: checkedName(command.name), createdAt: now } }];
    }
    if (state.status !== 'exists') throw new DomainError('data_store.not_found', 'there is no such data store');
    switch (command.type) {
      case 'rename': {
        const name = checkedName(command.name);
        return name === state.name ? [] : [{ type: 'DataStoreRenamed', data: { name, renamedAt: command.now } }];
      }
      case 'delete':
        return [{ type: 'DataStoreDeleted', data: { deletedAt: command.now } }];
    }
  },

  evolve(state, event): DataStoreState {
    if (event.type === 'DataStoreCreated') {
      const { storeId, userId, name, createdAt } = event.data;
      return { status: 'exists', id: storeId, userId, name, createdAt, updatedAt: createdAt };
    }
    if (state.status !== 'exists') return state;
    switch (event.type) {
      case 'DataStoreRenamed':
        return { ...state, name: event.data.name, updatedAt: event.data.renamedAt };
      case 'DataStoreDeleted':
        return { status: 'deleted', name: state.name };
    }
  },
};
