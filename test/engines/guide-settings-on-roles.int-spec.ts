import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { settingExamples } from '#test/docs/setting-examples.js';
import { givenEngines } from '#test/harness/deployment.js';
import { ROOT } from '#test/harness/paths.js';
import { Server } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';
import { makeAuthority } from './certificates.js';
import { makeCertificates, type Certificates } from './eventstore-certificates.js';
import { eventStoreHome, startSecureEventStore, type EventStoreServer } from './eventstore-server.js';
import { startFerretDb, type FerretDb } from './ferretdb.js';
import { removeNamespace } from './namespace.js';

/** A role is started by its environment with each setting that a document shows; only hosts, users and files are ours. */
const PATIENCE_MS = 400_000;
const PASSWORD = 'a-long-password';
const MONGO_USER = { name: 'USER', password: 'PASSWORD', database: 'admin' } as const;

/** Shown where the test's servers cannot have them. The named spec has. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'SLUICE_KAFKA_REPLICATION=3': 'three-brokers-roles.int-spec.ts: topics of three copies need three brokers',
  'SLUICE_KAFKA_TLS=true': 'secure-engines-on-roles.int-spec.ts: a broker with TLS',
};
/** Addresses for which there is no server here: a replica set, and names that DNS must know. They must be waited for. */
const WAITED_FOR = /replicaSet=|\+srv:|\+discover:/;

const home = eventStoreHome();
const scratch = tempDir('guide-settings');
let certificates: Certificates;
let eventStore: EventStoreServer | undefined;
let mongo: FerretDb;
let mongoCa: string;

beforeAll(async () => {
  const authority = await makeAuthority(scratch);
  mongoCa = authority.ca;
  mongo = await startFerretDb({ tls: await authority.issue('mongo', ['IP:127.0.0.1']), user: MONGO_USER });
  if (home === undefined) return;
  certificates = await makeCertificates(scratch);
  eventStore = await startSecureEventStore(certificates);
  // As the guide has it.
  const program = join(ROOT, 'deploy/eventstore-user.mjs');
  const env = { ...process.env, PASSWORD };
  await promisify(execFile)(process.execPath, [program, eventStore.url, 'sluice'], { env });
}, PATIENCE_MS);
afterAll(async () => {
  await Promise.all([eventStore?.stop(), mongo?.stop()]);
  removeDir(scratch);
}, PATIENCE_MS);

const hostOf = (url: string): string => /^[^:]+:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url)?.[1] ?? '';

/** Puts `host` in the place of every host of a URL or a list, and leaves users, paths and options. */
const withHost = (value: string, host: string): string => {
  const [, scheme = '', user = '', hosts = '', rest = ''] =
    /^(\w[\w+]*:\/\/)?([^@/]*@)?([^/?]+)(.*)$/.exec(value) ?? [];
  return scheme + user + hosts.replaceAll(/[^,]+/g, () => host) + rest;
};

const file = (value: string, name: string, path: string): string =>
  value.replace(new RegExp(`(${name}=)[^&]*`, 'i'), `$1${path}`);

const ours = (name: string, value: string): string => {
  const given = givenEngines();
  switch (name) {
    case 'SLUICE_EVENTSTORE_URL':
      return value.includes('tls=true') && eventStore
        ? file(withHost(value, hostOf(eventStore.url)), 'tlsCaFile', certificates.ca)
        : withHost(value, hostOf(given.eventStore));
    case 'SLUICE_MONGO_URL':
      return value.includes('tls=true')
        ? file(withHost(value, hostOf(mongo.url)), 'tlsCAFile', mongoCa)
        : withHost(value, hostOf(given.mongo));
    case 'SLUICE_KAFKA_BROKERS':
      return withHost(value, given.kafka);
    case 'SLUICE_SMTP_URL':
      return withHost(value, '127.0.0.1:9');
    case 'SLUICE_DATA_DIR':
      return join(scratch, randomBytes(4).toString('hex'));
    case 'SLUICE_PORT':
      return '0';
    default:
      return value;
  }
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
}, 60_000);

/** `set` is given as it is. */
const roleWith = (name: string, set: string): Server => {
  const given = givenEngines();
  const namespace = `t${randomBytes(6).toString('hex')}`;
  const mongoUrl = `${given.mongo.replace(/\/$/, '')}/${namespace}`;
  const role = new Server({
    app: 'webhook-worker',
    readyTimeoutMs: 60_000,
    pollMs: 50,
    ...(name === 'SLUICE_DATA_DIR' ? { dataDir: set } : {}),
    env: {
      SLUICE_ENGINE: 'distributed',
      SLUICE_KAFKA_BROKERS: given.kafka,
      SLUICE_PREFIX: namespace,
      SLUICE_MONGO_URL: mongoUrl,
      SLUICE_EVENTSTORE_URL: given.eventStore,
      SLUICE_SECRET_KEY: randomBytes(32).toString('hex'),
      SLUICE_PUBLIC_URL: 'http://127.0.0.1:3000',
      [name]: set,
    },
  });
  closing.push(
    () => removeNamespace({ kafka: given.kafka, prefix: `${namespace}.`, mongo: mongoUrl }),
    () => role.close(),
  );
  return role;
};

// docs/reference/config.md#engine-urls
describe('a role that is started with what a document shows', () => {
  const examples = settingExamples().filter(({ name, value }) => !(`${name}=${value}` in ELSEWHERE));
  const waitedFor = examples.filter(({ value }) => WAITED_FOR.test(value));
  const started = examples.filter(({ name, value }) => !WAITED_FOR.test(value) && !name.startsWith('SLUICE_TEST_'));

  it.each(started.map(({ name, value, page, line }) => [name, value, `${page}:${line}`]))(
    'is ready with %s=%s (%s)',
    async (name, value) => {
      if (value.startsWith('esdb') && value.includes('tls=true') && !eventStore) return;
      await roleWith(name, ours(name, value)).start();
    },
    120_000,
  );

  it.each(waitedFor.map(({ name, value }) => [name, value]))(
    'waits for %s=%s, which no server here has',
    async (name, value) => {
      const role = roleWith(name, value);
      const child = role.launch();
      await eventually(
        'it waits',
        () => /waiting for (MongoDB|EventStoreDB)/.test(role.lastOutput) || undefined,
        30_000,
      );
      expect(child.exitCode).toBeNull();
      await role.kill9();
    },
    60_000,
  );

  it.each([
    [
      'SLUICE_EVENTSTORE_URL',
      'esdb://sluice:hunter2@[::1]:2113?tls=false',
      /^sluice .*SLUICE_EVENTSTORE_URL is refused/m,
    ],
    [
      'SLUICE_EVENTSTORE_URL',
      'esdb://sluice:hunter2@a:2113?tls=maybe',
      /it expects true or false at character 34 instead of "maybe"/,
    ],
    ['SLUICE_EVENTSTORE_URL', 'esdb://u:hunter2@a?tlsCaFile=/nowhere', /Failed to load certificate file/],
    ['SLUICE_MONGO_URL', 'mongodb://u:hunter2@a:1,b:2/x?maxPoolSize=many', /SLUICE_MONGO_URL is refused by the driver/],
    ['SLUICE_MONGO_URL', 'mongodb://u:hunter2@a:99999/x', /SLUICE_MONGO_URL is refused by the driver/],
  ])(
    'is refused with %s=%s, with the reason of the client and without the password',
    async (name, value, why) => {
      const role = roleWith(name, value);
      await expect(role.start()).rejects.toThrow(why);
      expect(role.lastOutput).not.toContain('hunter2');
      expect(role.lastOutput).not.toContain('is not given');
    },
    60_000,
  );
});
