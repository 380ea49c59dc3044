import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type AccountEvent } from '../published.js';
import { ControlPlane, InMemoryVault } from '#libs/kernel/testing/control-plane.js';
import { type Vault } from '#libs/kernel/vault.js';
import { AccountCleanUpReactor, accountAuths, accountsContext, AccountsView } from '../index.js';
import { AccountRefresher, type AccountRefresherDependencies, EVENTS_WAIT_MS } from './account-refresher.js';
import { type PostForm, TokenRefused } from './token-grant.js';

const ID = 'apn_1';
const HOUR_MS = 3_600_000;
const NO_LOG = { warn: () => undefined, error: () => undefined };
const OFFERED = { allowed: ['SECRET'], values: { SECRET: 'from-the-server' } };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const reply = (fields: object, status = 200) => ({ status, text: JSON.stringify(fields) });

/** A token server that rotates and accepts each refresh token once. */
const rotating = () => {
  const taken: string[] = [];
  const forms: URLSearchParams[] = [];
  const post: PostForm = async (_, { form }) => {
    forms.push(form);
    const token = form.get('refresh_token') ?? '';
    if (token !== `refresh-${taken.length}`) return reply({ error: 'invalid_grant' }, 400);
    taken.push(token);
    const n = taken.length;
    return reply({ access_token: `access-${n}`, refresh_token: `refresh-${n}`, expires_in: 3600 });
  };
  return { taken, forms, post };
};

const world = async ({ leftMs = 0, settings = {} }: { leftMs?: number; settings?: object } = {}) => {
  const view = new AccountsView();
  const plane = await ControlPlane.start({
    projections: accountsContext.projections,
    views: [view],
    reactors: ({ events, vault }) => [new AccountCleanUpReactor({ events, vault })],
  });
  closing.push(() => plane.stop());
  const { vault, clock } = plane;
  const credentials = { oauth_access_token: 'access-0', oauth_refresh_token: 'refresh-0', oauth_uid: 'uid' };
  await vault.put('sec_c0', 'o_1', JSON.stringify(credentials));
  const method = 'client_secret_post';
  const given = { token_url: 'https://t', client_id: 'id', client_secret: 's', token_endpoint_auth_method: method };
  await vault.put('sec_oauth', 'o_1', JSON.stringify({ ...given, ...settings }));
  const oauth = { ref: 'sec_oauth', expiresAt: clock.time + leftMs, refreshAt: clock.time };
  const fields = { accountId: ID, userId: 'u_1', name: null, app: 'slack', credentialsRef: 'sec_c0' };
  const connected: AccountEvent = { type: 'AccountConnected', data: { ...fields, oauth, connectedAt: clock.time } };
  await plane.happened(`account-${ID}`, connected);
  /** A process that binds accounts. */
  const process = (post: PostForm, writes: Vault = vault, waits: Partial<AccountRefresherDependencies> = {}) => {
    const { handleCommand } = plane;
    const given = { view, handleCommand, vault: writes, clock, env: OFFERED, post, logger: NO_LOG };
    const deps = { ...given, storePausesMs: [1], ...waits };
    return accountAuths(view, vault, OFFERED, new AccountRefresher(deps));
  };
  const types = async () => (await plane.eventsOf(`account-${ID}`)).map(({ type }) => type).slice(1);
  return { plane, view, process, types };
};

/** Simulates the death of the process at this point. */
const died = (): Promise<never> => new Promise(() => undefined);

describe('the refresh of tokens', () => {
  // docs/reference/limits.md#account-token-server
  it('delays only accounts of the same workspace while token servers do not answer', async () => {
    const { plane, process } = await world();
    const asked: string[] = [];
    const post: PostForm = (url) => {
      asked.push(url);
      return url === 'https://quick' ? Promise.resolve(reply({ access_token: 'new', expires_in: 3600 })) : died();
    };
    const connect = async (accountId: string, workspaceId: string, tokenUrl: string): Promise<void> => {
      const [credentials, ref] = [`sec_c_${accountId}`, `sec_o_${accountId}`];
      await plane.vault.put(
        credentials,
        workspaceId,
        JSON.stringify({ oauth_access_token: 'a', oauth_refresh_token: 'r' }),
      );
      const method = 'client_secret_post';
      const given = { token_url: tokenUrl, client_id: 'id', client_secret: 's', token_endpoint_auth_method: method };
      await plane.vault.put(ref, workspaceId, JSON.stringify(given));
      const oauth = { ref, expiresAt: plane.clock.time, refreshAt: plane.clock.time };
      const fields = { accountId, userId: 'u_1', name: null, app: 'slack', credentialsRef: credentials };
      const data = { ...fields, oauth, connectedAt: plane.clock.time };
      await plane.happened(`account-${accountId}`, { type: 'AccountConnected', data }, workspaceId);
    };
    const hanging = Array.from({ length: 40 }, (_, i) => `apn_slow${i}`);
    for (const id of hanging) await connect(id, 'o_1', 'https://hangs');
    await connect('apn_quick', 'o_2', 'https://quick');
    const auths = process(post);
    for (const id of hanging) void auths.authOf(id, 'o_1').catch(() => undefined);
    expect(await auths.authOf('apn_quick', 'o_2')).toMatchObject({ oauth_access_token: 'new' });
    expect(asked.filter((url) => url === 'https://hangs')).toHaveLength(16);
  });

  // docs/reference/rest-api.md#account-refresh-once
  it('asks once for all runs and processes, and stores a rotated token before its use', async () => {
    const { process, types, plane } = await world();
    const { post, taken } = rotating();
    const processes = [process(post), process(post), process(post)];
    const auths = await Promise.all([...processes, ...processes].map((each) => each.authOf(ID, 'o_1')));
    for (const auth of auths)
      expect(auth).toEqual({ oauth_access_token: 'access-1', oauth_refresh_token: 'refresh-1', oauth_uid: 'uid' });
    expect(taken).toEqual(['refresh-0']);
    expect(await types()).toEqual(['AccountRefreshStarted', 'AccountRefreshed']);
    plane.clock.time += HOUR_MS;
    const [first] = processes;
    expect(await first?.authOf(ID, 'o_1')).toHaveProperty('oauth_access_token', 'access-2');
    expect(taken).toEqual(['refresh-0', 'refresh-1']);
    await plane.idle();
    expect(plane.vault.secrets.size).toBe(2);
    expect(JSON.stringify((await plane.eventsOf(`account-${ID}`)).map(({ data }) => data))).not.toMatch(
      /access-|refresh-\d/,
    );
  });

  // docs/reference/rest-api.md#account-refresh-time
  it('goes on with the old token while that is valid, and gives the new one a new version', async () => {
    const { process, view, plane } = await world({ leftMs: 60_000 });
    const { post } = rotating();
    const one = process(post);
    expect(await one.authOf(ID, 'o_1')).toHaveProperty('oauth_access_token', 'access-0');
    for (let n = 0; n < 100 && view.find(ID, 'o_1')?.credentialsRef === 'sec_c0'; n++) await plane.idle();
    expect(one.versionOf(ID, 'o_1')).not.toBe('sec_c0');
    expect(await one.authOf(ID, 'o_1')).toHaveProperty('oauth_access_token', 'access-1');
  });

  // docs/reference/rest-api.md#account-refresh-failed
  it('uses the old token while a refresh fails, and asks again only after a pause', async () => {
    const { process, types, plane } = await world({ leftMs: 60_000 });
    let asked = 0;
    const down: PostForm = async () => {
      asked++;
      throw new TokenRefused('t did not answer', false);
    };
    const one = process(down);
    for (let n = 0; n < 3; n++) {
      expect(await one.authOf(ID, 'o_1')).toHaveProperty('oauth_access_token', 'access-0');
      await plane.idle();
    }
    expect(asked).toBe(1);
    expect(await types()).toEqual(['AccountRefreshStarted', 'AccountRefreshFailed']);
    plane.clock.time += 70_000;
    await expect(one.authOf(ID, 'o_1')).rejects.toMatchObject({
      code: 'account.not_refreshed',
      message: expect.stringMatching(/apn_1 has expired .* because t did not answer: it is tried again/),
    });
    expect(asked).toBe(2);
    // The next runs fail at once, without a read or a request before the pause is over.
    await plane.idle();
    const reads = jest.spyOn(plane.events, 'read');
    await expect(one.authOf(ID, 'o_1')).rejects.toMatchObject({ code: 'account.not_refreshed' });
    expect(reads).not.toHaveBeenCalled();
    expect(asked).toBe(2);
  });

  // docs/reference/rest-api.md#account-refresh-once
  it('says after a crash between the reply and its write that the token may be lost', async () => {
    const { process, plane } = await world();
    const { post, taken } = rotating();
    const dying = new InMemoryVault();
    dying.put = died;
    dying.get = (ref, workspace) => plane.vault.get(ref, workspace);
    void process(post, dying).authOf(ID, 'o_1');
    while (taken.length === 0) await plane.idle();
    plane.clock.time += 60_000;
    await expect(process(post).authOf(ID, 'o_1')).rejects.toThrow(
      /answered 400 invalid_grant; an earlier refresh was interrupted .* may be lost: connect it again: PUT \/v1\/accounts\/apn_1/,
    );
  });

  it('finds the token after a crash between its write and the event', async () => {
    const { process, plane, types } = await world();
    const { post, taken } = rotating();
    const dying = new InMemoryVault();
    let written = false;
    dying.put = async (...given) => {
      await plane.vault.put(...given);
      written = true;
      return died();
    };
    dying.get = (ref, workspace) => plane.vault.get(ref, workspace);
    void process(post, dying).authOf(ID, 'o_1');
    while (!written) await plane.idle();
    plane.clock.time += 60_000;
    expect(await process(post).authOf(ID, 'o_1')).toHaveProperty('oauth_refresh_token', 'refresh-2');
    expect(taken).toEqual(['refresh-0', 'refresh-1']);
    expect(await types()).not.toContain('AccountRefreshFailed');
  });

  describe('while a process that died has the attempt', () => {
    const afterDeath = async () => {
      const made = await world();
      const { post, taken } = rotating();
      let isAsked = false;
      const never: PostForm = () => {
        isAsked = true;
        return died();
      };
      void made.process(never).authOf(ID, 'o_1');
      while (!isAsked) await made.plane.idle();
      return { ...made, post, taken };
    };
    /** Advances the clock by steps, with time for waiting calls to check. */
    const pass = async (plane: ControlPlane, ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 10_000) {
        plane.clock.time += 10_000;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    };

    it('a caller is answered before its end, and an event waits until a token is there', async () => {
      const { process, plane, post, taken } = await afterDeath();
      const caller = process(post)
        .authOf(ID, 'o_1')
        .catch((error: Error) => error.message);
      const event = process(post, undefined, { waitMs: EVENTS_WAIT_MS }).authOf(ID, 'o_1');
      await pass(plane, 30_000);
      expect(await caller).toMatch(/another process still waits for the token server/);
      expect(taken).toEqual([]);
      await pass(plane, 40_000);
      expect(await event).toHaveProperty('oauth_access_token', 'access-1');
    });
  });

  it('stores a token again when the first write fails', async () => {
    const { process, plane } = await world();
    const { post, taken } = rotating();
    const flaky = new InMemoryVault();
    let writes = 0;
    flaky.put = async (...given) => {
      if (++writes === 1) throw new Error('busy');
      return plane.vault.put(...given);
    };
    flaky.get = (ref, workspace) => plane.vault.get(ref, workspace);
    expect(await process(post, flaky).authOf(ID, 'o_1')).toHaveProperty('oauth_access_token', 'access-1');
    expect(taken).toHaveLength(1);
  });

  it.each([
    ['a word of its own', reply({ error: 'bad_refresh_token' }), /answered 200 bad_refresh_token: connect it again/],
    ['a text that repeats the token', reply({ error: 'no refresh-0!' }, 400), /answered 400: it is tried again/],
    ['no JSON', { status: 200, text: '<html>refresh-0' }, /without an access_token/],
    ['a token that is no text', reply({ access_token: { a: 1 } }), /without an access_token/],
  ])('tells %s without secrets', async (_, answer, words) => {
    const { process } = await world();
    const error = await process(async () => answer)
      .authOf(ID, 'o_1')
      .then(
        () => new Error('it was refreshed'),
        (refused: Error) => refused,
      );
    expect(error.message).toMatch(words);
    expect(error.message).not.toContain('refresh-0');
  });

  it('sends the secret as the account says, and a variable by its value', async () => {
    const form = async (settings: object) => {
      const { process } = await world({ settings });
      const sent: { headers: Readonly<Record<string, string>>; form: URLSearchParams }[] = [];
      await process(async (_, request) => {
        sent.push(request);
        return reply({ access_token: 'a', expires_in: '60' });
      }).authOf(ID, 'o_1');
      return sent[0];
    };
    expect((await form({ client_secret: { $env: 'SECRET' } }))?.form.get('client_secret')).toBe('from-the-server');
    const basic = await form({ token_endpoint_auth_method: 'client_secret_basic' });
    expect(basic?.form.has('client_secret')).toBe(false);
    expect(basic?.headers['authorization']).toBe(`Basic ${Buffer.from('id:s').toString('base64')}`);
  });
});
