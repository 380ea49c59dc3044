import { describe, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type ErrorEmailsEvent } from '../published.js';
import { errorEmails } from './error-emails.js';

const on = (userId = 'u_1'): ErrorEmailsEvent => ({
  type: 'ErrorEmailsSwitchedOn',
  data: { sourceId: 'dc_1', userId, switchedOnAt: 1 },
});
const off: ErrorEmailsEvent = { type: 'ErrorEmailsSwitchedOff', data: { switchedOffAt: 2 } };
const switchOn = (userId = 'u_1') => ({ type: 'switch_on', sourceId: 'dc_1', userId, now: 1 }) as const;
const switchOff = { type: 'switch_off', now: 2 } as const;

describe('emails about the errors of a source', () => {
  it('are off at first, and are switched on and off', () => {
    given(errorEmails).when(switchOn()).then(on());
    given(errorEmails, [on()]).when(switchOff).then(off);
    given(errorEmails, [on(), off]).when(switchOn()).then(on());
  });

  it('stay as they are when they are switched to that again', () => {
    given(errorEmails).when(switchOff).thenNothingHappened();
    given(errorEmails, [on()]).when(switchOn()).thenNothingHappened();
    given(errorEmails, [on(), off]).when(switchOff).thenNothingHappened();
  });

  it('are switched off for a user who leaves, and not for another who gets them', () => {
    given(errorEmails, [on()])
      .when({ ...switchOff, userId: 'u_1' })
      .then(off);
    given(errorEmails, [on('u_2')])
      .when({ ...switchOff, userId: 'u_1' })
      .thenNothingHappened();
  });

  it('go to the user who switched them on last', () => {
    given(errorEmails, [on()]).when(switchOn('u_2')).then(on('u_2'));
  });
});
