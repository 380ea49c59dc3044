import { derivedId } from '#libs/kernel/ids.js';
import { type Decider } from '#libs/kernel/decider.js';

/** Workspace that owns the components of the registry. No user is a member of it. */
export const REGISTRY_WORKSPACE = 'o_registry';

export interface RegistryEntry {
  readonly key: string;
  readonly componentId: string;
  readonly kind: 'source' | 'action';
  readonly name: string;
  readonly description: string | null;
  readonly version: string;
  /** Slug of the app that the component uses, or null. */
  readonly app: string | null;
  /** Path of its file in the folder of the registry. */
  readonly path: string;
}

/** From this event on a key of the registry leads to this component. */
export interface RegistryEntryListed {
  readonly type: 'RegistryEntryListed';
  readonly data: RegistryEntry;
}

/** The folder of the registry no longer has a component with this key. Sources made of it continue. */
export interface RegistryEntryRemoved {
  readonly type: 'RegistryEntryRemoved';
  readonly data: { readonly key: string };
}

export type RegistryEvent = RegistryEntryListed | RegistryEntryRemoved;

export type RegistryCommand =
  { readonly type: 'ListRegistryEntry'; readonly entry: RegistryEntry } | { readonly type: 'RemoveRegistryEntry' };

export type RegistryState = { readonly status: 'none' } | { readonly status: 'listed'; readonly entry: RegistryEntry };

/** Id of a key's stream. A key may hold any characters. */
export const registryEntryId = (key: string): string => derivedId('reg', key);

export const registryDecider: Decider<RegistryCommand, RegistryEvent, RegistryState> = {
  category: 'registry',
  initialState: () => ({ status: 'none' }),

  decide: (command, state) => {
    switch (command.type) {
      case 'ListRegistryEntry': {
        const { entry } = command;
        const same = state.status === 'listed' && state.entry.componentId === entry.componentId;
        return same && state.entry.path === entry.path ? [] : [{ type: 'RegistryEntryListed', data: entry }];
      }
      case 'RemoveRegistryEntry':
        return state.status === 'none' ? [] : [{ type: 'RegistryEntryRemoved', data: { key: state.entry.key } }];
    }
  },

  evolve: (state, event) => {
    switch (event.type) {
      case 'RegistryEntryListed':
        return { status: 'listed', entry: event.data };
      case 'RegistryEntryRemoved':
        return { status: 'none' };
      default:
        return state;
    }
  },
};
