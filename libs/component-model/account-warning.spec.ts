import { describe, expect, it } from '@jest/globals';
import { accountWarnings } from './account-warning.js';

const APP = { name: 'chat', type: 'app', app: 'chat-app' } as const;
const warnedOf = (values: Readonly<Record<string, unknown>>): readonly string[] =>
  accountWarnings([APP, { name: 'city', type: 'string' }], values).map(({ path }) => path);

describe('warnings about accounts', () => {
  it('name each app prop without a value, and how to give one', () => {
    expect(accountWarnings([APP], {})).toEqual([
      {
        code: 'no_account',
        path: 'configured_props.chat',
        message: expect.stringMatching(/"chat-app" needs none.*POST \/v1\/accounts.*authProvisionId/),
      },
    ]);
    expect(warnedOf({ chat: null })).toEqual(['configured_props.chat']);
    expect(warnedOf({ chat: { authProvisionId: 'apn_1' } })).toEqual([]);
  });

  it('are absent for a prop with a default', () => {
    expect(accountWarnings([{ ...APP, default: { authProvisionId: 'apn_1' } }], {})).toEqual([]);
  });
});
