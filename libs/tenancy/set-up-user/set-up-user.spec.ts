import { afterEach, describe, expect, it } from '@jest/globals';
import { START } from '#libs/kernel/events.js';
import { hashOfKey } from '../domain/api-key.js';
import { runningTenancy, type RunningTenancy } from '../testing/running-tenancy.js';
import { bootstrap } from './bootstrap.js';
import { setUpUser, type SetUpResult } from './set-up-user.js';

describe('the first start', () => {
  let running: RunningTenancy[] = [];
  afterEach(async () => {
    for (const tenancy of running) await tenancy.projectors.stop();
    running = [];
  });
  const start = async (store?: RunningTenancy['store']): Promise<RunningTenancy> => {
    const tenancy = await runningTenancy(store);
    running.push(tenancy);
    return tenancy;
  };
  const made = ({ key }: SetUpResult) => {
    if (key.status !== 'made') throw new Error(`the key was not made but ${key.status}`);
    return key;
  };
  const types = async ({ store }: RunningTenancy): Promise<string[]> =>
    (await store.readAll(START, 1000)).map((event) => event.type);

  it('makes an owner, a workspace and a valid key', async () => {
    const tenancy = await start();
    const result = await bootstrap(tenancy.deps, undefined);
    await made(result).handedOver();
    await tenancy.caughtUp();

    expect(await types(tenancy)).toEqual([
      'UsernameReserved',
      'EmailReserved',
      'UserRegistered',
      'WorkspaceCreated',
      'ApiKeyIssued',
      'ApiKeyHandedOver',
    ]);
    expect(made(result).secret).toMatch(/^sk_[0-9a-f]{40}$/);
    expect(tenancy.callers.callerOf(hashOfKey(made(result).secret))).toMatchObject({
      userId: result.userId,
      workspaceIds: [result.workspaceId],
    });
    const log = JSON.stringify(await tenancy.store.readAll(START, 100), (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    expect(log).not.toContain(made(result).secret);
  });

  it('is not repeated by the next start', async () => {
    const first = await start();
    const { userId, workspaceId, key } = await bootstrap(first.deps, undefined);
    if (key.status === 'made') await key.handedOver();

    const second = await start(first.store);
    expect(await bootstrap(second.deps, undefined)).toEqual({ userId, workspaceId, key: { status: 'existing' } });
    expect(await types(second)).toHaveLength(6);
  });

  // The process dies right before its n-th append, or after the last one and before it printed the key.
  it.each([1, 2, 3, 4, 5, 6, 7])(
    'that died before append %i is finished by the next, with a valid key',
    async (dies) => {
      const first = await start();
      let appends = 0;
      const dying = async (): Promise<void> => {
        if (++appends === dies) throw new Error('power cut');
        first.store.onNextAppend(dying);
      };
      first.store.onNextAppend(dying);
      const firstStart = async (): Promise<void> => {
        const { key } = await bootstrap(first.deps, undefined);
        if (dies < 6 && key.status === 'made') await key.handedOver();
      };
      if (dies < 6) await expect(firstStart()).rejects.toThrow('power cut');
      else await firstStart();
      first.store.onNextAppend(async () => undefined);

      const second = await start(first.store);
      const result = await bootstrap(second.deps, undefined);
      await made(result).handedOver();
      await second.caughtUp();
      expect(second.callers.callerOf(hashOfKey(made(result).secret))?.workspaceIds).toEqual([result.workspaceId]);
      expect(second.callers.usableKeys(result.userId)).toBe(1);
      const log = await types(second);
      expect(log.filter((type) => type === 'UserRegistered')).toHaveLength(1);
      expect(log.filter((type) => type === 'WorkspaceCreated')).toHaveLength(1);

      const third = await start(first.store);
      expect((await bootstrap(third.deps, undefined)).key).toEqual({ status: 'existing' });
    },
  );

  it('that died between printing and recording the key makes another key and revokes the first', async () => {
    const first = await start();
    const lost = made(await bootstrap(first.deps, undefined));
    const second = await start(first.store);
    const found = made(await bootstrap(second.deps, undefined));
    await second.caughtUp();
    expect(second.callers.callerOf(hashOfKey(lost.secret))).toBeUndefined();
    expect(second.callers.callerOf(hashOfKey(found.secret))).toBeDefined();
  });

  it('accepts the given key, and a changed one beside it', async () => {
    const tenancy = await start();
    const opens = async (key: string) => {
      await tenancy.caughtUp();
      return tenancy.callers.callerOf(hashOfKey(key)) !== undefined;
    };
    expect((await bootstrap(tenancy.deps, 'given-key-number-one')).key).toEqual({ status: 'given' });
    expect((await bootstrap(tenancy.deps, 'given-key-number-one')).position).toBeUndefined();
    expect((await bootstrap(tenancy.deps, 'given-key-number-two')).key).toEqual({ status: 'given' });
    expect([await opens('given-key-number-one'), await opens('given-key-number-two')]).toEqual([true, true]);
    // Without a given key none is made, because the user has keys.
    expect((await bootstrap(tenancy.deps, undefined)).key).toEqual({ status: 'existing' });
  });

  it('does not bring back a given key that was revoked', async () => {
    const tenancy = await start();
    const { userId } = await bootstrap(tenancy.deps, 'given-key-number-one');
    await tenancy.caughtUp();
    await revokeAll(tenancy, userId);
    expect((await bootstrap(tenancy.deps, 'given-key-number-one')).key).toEqual({ status: 'given_but_revoked' });
    await tenancy.caughtUp();
    expect(tenancy.callers.usableKeys(userId)).toBe(0);
    // Without any valid key, the owner gets a new one.
    expect((await bootstrap(tenancy.deps, undefined)).key.status).toBe('made');
  });

  it('draws random ids once, independent of the name', async () => {
    const ada = { username: 'ada', email: 'ada@example.com', workspaceName: 'Ada' };
    const [here, elsewhere] = [await start(), await start()];
    const drawn = [
      await setUpUser(here.deps, ada),
      await setUpUser(elsewhere.deps, ada),
      await setUpUser(here.deps, ada),
    ];
    const ids = drawn.map(({ userId, workspaceId }) => `${userId} ${workspaceId}`);
    expect(ids[0]).toMatch(/^u_[0-9a-z]{18} o_[0-9a-z]{18}$/);
    expect(ids[1]).not.toBe(ids[0]);
    expect(ids[2]).toBe(ids[0]);
  });

  it('gives every user a workspace and a key of their own', async () => {
    const tenancy = await start();
    const owner = await bootstrap(tenancy.deps, undefined);
    const ada = await setUpUser(tenancy.deps, { username: 'ada', email: 'ada@example.com', workspaceName: 'Ada' });
    expect(new Set([owner.userId, ada.userId]).size).toBe(2);
    expect(new Set([owner.workspaceId, ada.workspaceId]).size).toBe(2);
    await tenancy.caughtUp();
    expect(tenancy.callers.callerOf(hashOfKey(made(ada).secret))?.workspaceIds).toEqual([ada.workspaceId]);
    const registered = setUpUser(tenancy.deps, { username: 'ADA', email: 'other@example.com', workspaceName: 'X' });
    await expect(registered).rejects.toMatchObject({ code: 'user.already_exists' });
  });
});

describe('before the first start', () => {
  it.each([
    ['bob', 'OWNER@localhost', /address of user owner/],
    ['Owner', 'me@example.com', /username Owner is taken/],
  ])('%s <%s> leaves the owner to the server', async (username, email, text) => {
    const tenancy = await runningTenancy();
    try {
      await expect(setUpUser(tenancy.deps, { username, email, workspaceName: 'W' })).rejects.toThrow(text);
      await tenancy.caughtUp();
      expect((await bootstrap(tenancy.deps, undefined)).key.status).toBe('made');
    } finally {
      await tenancy.projectors.stop();
    }
  });
});

describe('an email address', () => {
  it('that a set-up reserved before it died is given by repeating that set-up, as the refusal of another says', async () => {
    const tenancy = await runningTenancy();
    try {
      const ada = { username: 'ada', email: 'ada@example.com', workspaceName: 'Ada' };
      let appends = 0;
      const dying = async (): Promise<void> => {
        if (++appends === 3) throw new Error('power cut');
        tenancy.store.onNextAppend(dying);
      };
      tenancy.store.onNextAppend(dying);
      await expect(setUpUser(tenancy.deps, ada)).rejects.toThrow('power cut');
      await expect(setUpUser(tenancy.deps, { ...ada, username: 'adah' })).rejects.toThrow(
        'email ada@example.com is the address of user ada, whose set-up may not have ended: give another address, or set up user ada again with this one',
      );
      expect((await setUpUser(tenancy.deps, ada)).key.status).toBe('made');
    } finally {
      await tenancy.projectors.stop();
    }
  });

  it('belongs to one user, in whatever case it is written, and a refusal uses up no name', async () => {
    const tenancy = await runningTenancy();
    try {
      await setUpUser(tenancy.deps, { username: 'ada', email: 'Ada@Example.com', workspaceName: 'Ada' });
      await tenancy.caughtUp();
      const taken = setUpUser(tenancy.deps, { username: 'bob', email: 'ada@example.COM', workspaceName: 'Bob' });
      await expect(taken).rejects.toThrow(/address of user ada/);
      await expect(taken).rejects.toMatchObject({
        code: 'user.already_exists',
        details: { field: 'email', actual: 'ada@example.COM' },
      });
      await setUpUser(tenancy.deps, { username: 'bob', email: 'bob@example.com', workspaceName: 'Bob' });
    } finally {
      await tenancy.projectors.stop();
    }
  });

  it('goes to one of two users who are set up at once, neither of whom is known yet', async () => {
    const tenancy = await runningTenancy();
    try {
      const unaware = { ...tenancy.deps, callers: { usableKeys: () => 0, usernamesOf: () => [] } };
      const results = await Promise.allSettled(
        ['ada', 'bob'].map((username) =>
          setUpUser(unaware, { username, email: username === 'ada' ? 'x@y' : 'X@Y', workspaceName: 'W' }),
        ),
      );
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const events = await tenancy.store.readAll(START, 100);
      expect(events.filter(({ type }) => type === 'UserRegistered')).toHaveLength(1);
    } finally {
      await tenancy.projectors.stop();
    }
  });
});

const revokeAll = async ({ store, handleCommand }: RunningTenancy, userId: string): Promise<void> => {
  const { apiKey } = await import('../domain/api-key.js');
  for (const event of await store.readAll(START, 1000)) {
    if (event.type !== 'ApiKeyIssued') continue;
    const keyId = event.stream.slice('apikey-'.length);
    const context = { correlationId: 'c', causationId: 'c', actor: { userId, apiKeyId: null }, workspaceId: 'o_1' };
    const revoke = { type: 'revoke', keyId, userId, now: 1 } as const;
    await handleCommand(apiKey, keyId, revoke, { ...context, commandId: `revoke-${keyId}` });
  }
};
