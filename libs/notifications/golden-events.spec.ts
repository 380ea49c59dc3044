import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { notificationsContext } from './context.js';
import { errorEmails } from './domain/error-emails.js';
import { type ErrorEmailsEvent } from './published.js';

const golden = new GoldenEvents(notificationsContext);

const after = (...names: GoldenName<ErrorEmailsEvent>[]) => golden.after(errorEmails, ...names);

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<ErrorEmailsEvent['type'], () => void> = {
  ErrorEmailsSwitchedOn: () =>
    expect(after('ErrorEmailsSwitchedOn')).toEqual({ status: 'on', userId: 'u_0k2f9x8a1b3c5d7e9f' }),
  ErrorEmailsSwitchedOff: () =>
    expect(after('ErrorEmailsSwitchedOn', 'ErrorEmailsSwitchedOff')).toEqual({ status: 'off' }),
};

describe('every version of an event of emails about errors', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());
});
