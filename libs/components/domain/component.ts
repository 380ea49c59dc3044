import { epochSeconds } from '#libs/kernel/clock.js';
import { type Decider } from '#libs/kernel/decider.js';
import { type ComponentEvent, type ComponentSaved } from '../published.js';

export type SavedComponent = Omit<ComponentSaved['data'], 'savedAt'> & {
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type ComponentState =
  { readonly status: 'none' } | { readonly status: 'saved'; readonly component: SavedComponent };

export interface SaveComponentCode {
  readonly type: 'SaveComponentCode';
  readonly data: ComponentSaved['data'];
  /** Saves known code again with the packages in `data`. */
  readonly refreshed?: boolean;
}

export interface DeleteComponentCode {
  readonly type: 'DeleteComponentCode';
  readonly now: number;
}

/**
 * The id of a component is derived from workspace and code, so saved code never changes. Posting the same code again,
 * even at the same time, only refreshes `updated_at`. See docs/reference/rest-api.md#component-same-code. The code of a
 * deleted component is saved anew.
 */
export const componentDecider: Decider<SaveComponentCode | DeleteComponentCode, ComponentEvent, ComponentState> = {
  category: 'component',
  initialState: () => ({ status: 'none' }),

  decide: (command, state) => {
    if (command.type === 'DeleteComponentCode') {
      if (state.status === 'none') return [];
      const uses = state.component.packages?.uses ?? [];
      return [{ type: 'ComponentDeleted', data: { ...(uses.length === 0 ? {} : { uses }), deletedAt: command.now } }];
    }
    const { data, refreshed } = command;
    if (state.status === 'none') return [{ type: 'ComponentSaved', data }];
    if (refreshed === true && lockOf(data) !== lockOf(state.component))
      return [{ type: 'ComponentPackagesRefreshed', data: { ...data, ...droppedBy(data, state.component) } }];
    const { url, savedAt } = data;
    const { component } = state;
    const sameUrl = url === null || url === component.url;
    // The change would not be visible, because `updated_at` is in whole seconds.
    if (sameUrl && epochSeconds(savedAt) <= epochSeconds(component.updatedAt)) return [];
    return [{ type: 'ComponentSavedAgain', data: { url, savedAt } }];
  },

  evolve: (state, event) => {
    switch (event.type) {
      case 'ComponentSaved': {
        const { savedAt, ...component } = event.data;
        return { status: 'saved', component: { ...component, createdAt: savedAt, updatedAt: savedAt } };
      }
      case 'ComponentSavedAgain':
        if (state.status === 'none') return state;
        return {
          status: 'saved',
          component: { ...state.component, url: event.data.url ?? state.component.url, updatedAt: event.data.savedAt },
        };
      case 'ComponentPackagesRefreshed': {
        if (state.status === 'none') return state;
        const { savedAt, url, dropped: _, ...component } = event.data;
        const { createdAt, url: before } = state.component;
        return { status: 'saved', component: { ...component, url: url ?? before, createdAt, updatedAt: savedAt } };
      }
      case 'ComponentDeleted':
        return { status: 'none' };
      default:
        return state;
    }
  },
};

/** Data of the event that saves a component as it is. */
export const savedDataOf = ({ createdAt, updatedAt: _, ...data }: SavedComponent): ComponentSaved['data'] => ({
  ...data,
  savedAt: createdAt,
});

type Saved = Pick<ComponentSaved['data'], 'packages'>;

const droppedBy = (next: Saved, before: Saved): { readonly dropped?: readonly string[] } => {
  const kept = new Set(next.packages?.uses);
  const dropped = before.packages?.uses.filter((use) => !kept.has(use)) ?? [];
  return dropped.length === 0 ? {} : { dropped };
};

const lockOf = ({ packages }: Saved): string | undefined => packages?.lockHash;
