import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RefusedStart } from '#libs/config/refused-start.js';
import { makeAuthority, type Authority } from '#test/engines/certificates.js';
import { startFerretDb, type FerretDb } from '#test/engines/ferretdb.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { connectMongo } from './connect.js';

/** A separate server with TLS and one user. FerretDB checks both like mongod. */

jest.setTimeout(60_000);
const USER = { name: 'sluice', password: 'p@ss:/word', database: 'people' } as const;

const dir = tempDir('secure-mongo');
let authority: Authority;
let stranger: Authority;
let server: FerretDb;
beforeAll(async () => {
  authority = await makeAuthority(dir);
  stranger = await makeAuthority(dir, 'stranger');
  const tls = await authority.issue('mongo', ['IP:127.0.0.1']);
  server = await startFerretDb({ tls, user: USER });
}, 900_000);
afterAll(async () => {
  await server?.stop();
  removeDir(dir);
});

interface Given {
  readonly host?: string;
  readonly user?: string;
  readonly password?: string;
  readonly options?: Readonly<Record<string, string>>;
}

/** A value of SLUICE_MONGO_URL. */
const url = ({ host = '127.0.0.1', user = USER.name, password = USER.password, options = {} }: Given = {}): string => {
  const { port } = new URL(server.url);
  const all = { tls: 'true', tlsCAFile: authority.ca, authSource: USER.database };
  const query = new URLSearchParams(Object.assign(all, options)).toString();
  const who = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
  return `mongodb://${who}${host}:${port}/installation?${query}`;
};

const failure = async (given: Given): Promise<Error> => {
  const connecting = connectMongo(url(given));
  return connecting.then(
    async (connection) => {
      await connection.close();
      throw new Error('it was let in');
    },
    (error: Error) => error,
  );
};
const refusal = async (given: Given): Promise<string> => {
  const refused = await failure(given);
  expect(refused).toBeInstanceOf(RefusedStart);
  return refused.message;
};

describe('MongoDB with TLS and users', () => {
  it.each([undefined, 'SCRAM-SHA-256'])('serves a user of its URL (authMechanism %s)', async (authMechanism) => {
    const { db, close } = await connectMongo(url(authMechanism === undefined ? {} : { options: { authMechanism } }));
    try {
      expect(db.databaseName).toBe('installation');
      await db.collection<{ _id: string }>('c').insertOne({ _id: 'a' });
      expect(await db.collection('c').countDocuments()).toBe(1);
      await db.dropDatabase();
    } finally {
      await close();
    }
  });

  it.each([
    ['a wrong password', { password: 'wrong:/guess' }],
    ['an unknown user', { user: 'nobody' }],
    ['another database of users', { options: { authSource: 'elsewhere' } }],
  ])('refuses the start with %s, and does not tell the password', async (_what, given) => {
    const text = await refusal(given);
    expect(text).toMatch(/^MongoDB at 127\.0\.0\.1:\d+ refuses the user of SLUICE_MONGO_URL: .*uthentication failed/);
    for (const password of [USER.password, 'wrong:/guess', encodeURIComponent(USER.password)])
      expect(text).not.toContain(password);
  });

  it('refuses the start without a user', async () => {
    expect(await refusal({ user: '' })).toMatch(/refuses the user of SLUICE_MONGO_URL: .*requires authentication/i);
  });

  it('refuses the start with a certificate that is not trusted, or for another name', async () => {
    const text = await refusal({ options: { tlsCAFile: stranger.ca } });
    expect(text).toMatch(/certificate of MongoDB at 127\.0\.0\.1:\d+ is not trusted: .*tlsCAFile/);
    expect(await refusal({ host: 'localhost' })).toMatch(/is for other names/);
  });

  it('says when the file of authorities cannot be read', async () => {
    expect(await refusal({ options: { tlsCAFile: '/nowhere/ca.pem' } })).toMatch(
      /SLUICE_MONGO_URL.*\/nowhere\/ca\.pem/,
    );
  });
});
