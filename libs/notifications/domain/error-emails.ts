import { type Decider } from '#libs/kernel/decider.js';
import { type ErrorEmailsEvent } from '../published.js';

export type ErrorEmailsCommand =
  | { readonly type: 'switch_on'; readonly sourceId: string; readonly userId: string; readonly now: number }
  | {
      readonly type: 'switch_off';
      /** Applies only while the emails go to this user. */
      readonly userId?: string;
      readonly now: number;
    };

export type ErrorEmailsState = { readonly status: 'off' } | { readonly status: 'on'; readonly userId: string };

/** Whether errors of a source are sent to a user (docs/reference/rest-api.md#error-emails). */
export const errorEmails: Decider<ErrorEmailsCommand, ErrorEmailsEvent, ErrorEmailsState> = {
  category: 'error_emails',
  initialState: () => ({ status: 'off' }),

  decide(command, state) {
    switch (command.type) {
      case 'switch_on': {
        const { sourceId, userId, now } = command;
        // Another user who switches the emails on gets them instead.
        if (state.status === 'on' && state.userId === userId) return [];
        return [{ type: 'ErrorEmailsSwitchedOn', data: { sourceId, userId, switchedOnAt: now } }];
      }
      case 'switch_off':
        if (state.status === 'off') return [];
        if (command.userId !== undefined && command.userId !== state.userId) return [];
        return [{ type: 'ErrorEmailsSwitchedOff', data: { switchedOffAt: command.now } }];
    }
  },

  evolve(_, event) {
    switch (event.type) {
      case 'ErrorEmailsSwitchedOn':
        return { status: 'on', userId: event.data.userId };
      case 'ErrorEmailsSwitchedOff':
        return { status: 'off' };
    }
  },
};
