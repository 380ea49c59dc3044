import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { errorEmails, type ErrorEmailsState } from './domain/error-emails.js';
import { type ErrorEmailsEvent } from './published.js';

const upcasters = makeUpcasters();

/** Folds golden events (test/fixtures/events), upcast to the current version. */
const after = async (...types: ErrorEmailsEvent['type'][]): Promise<ErrorEmailsState> => {
  let state = errorEmails.initialState();
  for (const type of types) {
    const file = new URL(`../../test/fixtures/events/${type}.v1.json`, import.meta.url);
    const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
    const lifted = upcasters.upcast(recorded('x-1', { type, data }, { metadata: { schemaVersion } }));
    state = errorEmails.evolve(state, { type: lifted.type, data: lifted.data } as ErrorEmailsEvent);
  }
  return state;
};

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<ErrorEmailsEvent['type'], () => Promise<void>> = {
  ErrorEmailsSwitchedOn: async () =>
    expect(await after('ErrorEmailsSwitchedOn')).toEqual({ status: 'on', userId: 'u_0k2f9x8a1b3c5d7e9f' }),
  ErrorEmailsSwitchedOff: async () =>
    expect(await after('ErrorEmailsSwitchedOn', 'ErrorEmailsSwitchedOff')).toEqual({ status: 'off' }),
};

describe('every version of an event of emails about errors', () => {
  it.each(Object.entries(CASES))('%s folds', async (_, check) => check());

  it('is written by the current code in a version with a fixture', () => {
    for (const type of Object.keys(CASES)) expect(upcasters.currentVersion(type)).toBe(1);
  });
});
