import { describe, expect, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type AccountEvent } from '../published.js';
import { account } from './account.js';
import { tokenTimes } from './refresh.js';

const fields = { accountId: 'apn_1', userId: 'u_1', name: null, app: 'slack', credentialsRef: 'sec_1' };
const oauth = { ref: 'sec_o', expiresAt: 10_000, refreshAt: 5_000 };
const connected: AccountEvent = { type: 'AccountConnected', data: { ...fields, oauth, connectedAt: 0 } };
const started: AccountEvent = {
  type: 'AccountRefreshStarted',
  data: { credentialsRef: 'sec_2', startedAt: 5_000, until: 65_000, interrupted: false },
};
const start = (now: number) => ({ type: 'start_refresh', credentialsRef: 'sec_9', now }) as const;
const finish = { type: 'finish_refresh', basedOn: 'sec_1', credentialsRef: 'sec_2', lifetimeMs: 3_600_000 } as const;
const fail = { type: 'fail_refresh', basedOn: 'sec_1', reason: 'it said no' } as const;
const failed = (retryAt: number | null): AccountEvent => ({
  type: 'AccountRefreshFailed',
  data: { reason: 'it said no', failedAt: 6_000, retryAt },
});
const replaced: AccountEvent = {
  type: 'AccountUpdated',
  data: { name: null, credentialsRef: 'sec_5', oauth, updatedAt: 6_000 },
};

describe('the refresh of an account', () => {
  it('starts when it is due', () => {
    given(account, [connected]).when(start(4_999)).thenNothingHappened();
    given(account, [connected])
      .when(start(5_000))
      .then({
        type: 'AccountRefreshStarted',
        data: { credentialsRef: 'sec_9', startedAt: 5_000, until: 65_000, interrupted: false },
      });
  });

  it('does not start beside another one', () =>
    given(account, [connected, started]).when(start(64_999)).thenNothingHappened());

  it('starts again after an interrupted one, with the reference where that stored its token', () =>
    given(account, [connected, started])
      .when(start(65_000))
      .then({
        type: 'AccountRefreshStarted',
        data: { credentialsRef: 'sec_2', startedAt: 65_000, until: 125_000, interrupted: true },
      }));

  it('ends with new credentials', () =>
    given(account, [connected, started])
      .when({ ...finish, now: 6_000 })
      .then({
        type: 'AccountRefreshed',
        data: {
          credentialsRef: 'sec_2',
          replacedRef: 'sec_1',
          expiresAt: 3_606_000,
          refreshAt: 3_306_000,
          refreshedAt: 6_000,
        },
      }));

  it('takes a late token while the credentials are those that it began with', () => {
    const again: AccountEvent = {
      type: 'AccountRefreshStarted',
      data: { credentialsRef: 'sec_2', startedAt: 65_000, until: 125_000, interrupted: true },
    };
    given(account, [connected, started, again])
      .when({ ...finish, credentialsRef: 'sec_7', now: 66_000 })
      .thenState((state) => expect(state).toMatchObject({ credentialsRef: 'sec_7' }));
  });

  it('leaves credentials alone that a user replaced meanwhile', () => {
    given(account, [connected, started, replaced])
      .when({ ...finish, now: 7_000 })
      .thenNothingHappened();
    given(account, [connected, started, replaced])
      .when({ ...fail, permanent: true, now: 7_000 })
      .thenNothingHappened();
  });

  it('pauses longer after each failure', () => {
    const retryAt = (...past: AccountEvent[]): number | null | undefined => {
      let found: number | null | undefined;
      given(account, [connected, started, ...past])
        .when({ ...fail, permanent: false, now: 6_000 })
        .thenState((state) => {
          found = state.status === 'connected' ? state.oauth?.failure?.retryAt : undefined;
        });
      return found;
    };
    expect(retryAt()).toBe(16_000);
    expect(retryAt(failed(16_000))).toBe(26_000);
    expect(retryAt(...Array.from({ length: 20 }, () => failed(1)))).toBe(906_000);
    given(account, [connected, started, failed(16_000)])
      .when(start(15_999))
      .thenNothingHappened();
  });

  // docs/reference/rest-api.md#account-refresh-failed
  it('stops when the token is revoked, until there are new credentials', () => {
    given(account, [connected, started])
      .when({ ...fail, permanent: true, now: 6_000 })
      .then(failed(null));
    given(account, [connected, started, failed(null)])
      .when(start(9_999_999))
      .thenNothingHappened();
    given(account, [connected, started, failed(null), replaced])
      .when(start(9_999_999))
      .thenState((state) => expect(state).toMatchObject({ oauth: { attempt: { credentialsRef: 'sec_9' } } }));
  });

  it('tells that an interrupted refresh may have lost the token', () => {
    const again: AccountEvent = {
      type: 'AccountRefreshStarted',
      data: { credentialsRef: 'sec_2', startedAt: 65_000, until: 125_000, interrupted: true },
    };
    given(account, [connected, started, again])
      .when({ ...fail, permanent: true, now: 66_000 })
      .thenState((state) =>
        expect(state).toMatchObject({
          oauth: { failure: { reason: expect.stringMatching(/^it said no; an earlier .* may be lost$/) } },
        }),
      );
  });

  // docs/reference/rest-api.md#account-update
  it('is kept by a new name, and ended by null', () => {
    const rename = { type: 'update', changes: { name: 'n' }, now: 6_000 } as const;
    given(account, [connected, started])
      .when(rename)
      .thenState((state) => expect(state).toMatchObject({ name: 'n', oauth: { attempt: { until: 65_000 } } }));
    given(account, [connected])
      .when({ ...rename, changes: { oauth: null } })
      .thenState((state) => expect(state).not.toHaveProperty('oauth'));
  });

  it('is not overwritten in silence by credentials alone', () => {
    given(account, [connected])
      .when({ type: 'update', changes: { credentialsRef: 'sec_5' }, now: 6_000 })
      .thenThrows('request.invalid_parameter', /would be overwritten by the next refresh/);
  });

  // docs/reference/rest-api.md#account-refresh-time
  it('begins five minutes before the expiry, or after half of a short life', () => {
    expect(tokenTimes(0, 3_600_000)).toEqual({ expiresAt: 3_600_000, refreshAt: 3_300_000 });
    expect(tokenTimes(0, 60_000)).toEqual({ expiresAt: 60_000, refreshAt: 30_000 });
    expect(tokenTimes(1_000, 0)).toEqual({ expiresAt: 1_000, refreshAt: 1_000 });
  });
});
