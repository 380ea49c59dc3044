import { describe, expect, it } from '@jest/globals';
import { accountWarnings } from './account-warning.js';

const APP = { name: 'chat', type: 'app', app: 'chat-app' } as const;
const known = (): undefined => undefined;
const warnedOf = (values: Readonly<Record<string, unknown>>): readonly string[] =>
  accountWarnings([APP, { name: 'city', type: 'string' }], values, known).map(({ path }) => path);

describe('warnings about accounts', () => {
  it('name each app prop without a value, and how to give one', () => {
    expect(accountWarnings([APP], {}, known)).toEqual([
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
    expect(accountWarnings([{ ...APP, default: { authProvisionId: 'apn_1' } }], {}, known)).toEqual([]);
  });

  it('name an account that the workspace does not have', () => {
    const unknownIn = (value: unknown) => (value === 'apn_mine' ? undefined : String(value));
    expect(accountWarnings([APP], { chat: 'apn_mine' }, unknownIn)).toEqual([]);
    expect(accountWarnings([APP], { chat: 'apn_other' }, unknownIn)).toEqual([
      {
        code: 'no_account',
        path: 'configured_props.chat',
        message: expect.stringMatching(/"apn_other", which is no account of this workspace.*GET \/v1\/accounts/),
      },
    ]);
  });
});
