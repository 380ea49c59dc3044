import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { relayCode } from '#test/harness/component-code.js';
import { CLI, runNode } from '#test/harness/command-line.js';
import { Deployment, givenEngines } from '#test/harness/deployment.js';
import { Instance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { startFerretDb, type FerretDb } from './ferretdb.js';
import { startSecureKafkaBroker, USER, type SecureKafkaBroker } from './kafka-secure-broker.js';

/** All roles on a Kafka and a MongoDB that want TLS and users, which are the spec's own. */
const PATIENCE_MS = 400_000;
const MONGO_USER = { name: 'sluice', password: 'm0ngo/secret', database: 'admin' } as const;

const scratch = tempDir('secure-engines');
let kafka: SecureKafkaBroker;
let mongo: FerretDb;
let instance: Instance<Deployment>;

beforeAll(async () => {
  kafka = await startSecureKafkaBroker();
  const tls = await kafka.authority.issue('mongo', ['IP:127.0.0.1']);
  mongo = await startFerretDb({ tls, user: MONGO_USER });
  const query = new URLSearchParams({ tls: 'true', tlsCAFile: kafka.authority.ca, authSource: MONGO_USER.database });
  const user = `${MONGO_USER.name}:${encodeURIComponent(MONGO_USER.password)}`;
  instance = new Instance(
    new Deployment({
      engines: {
        // The clean-up afterwards uses this port.
        kafka: kafka.plaintext,
        mongo: `${mongo.url.replace('//', `//${user}@`)}?${query.toString()}`,
        eventStore: givenEngines().eventStore,
      },
      env: {
        SLUICE_KAFKA_BROKERS: kafka.saslSsl,
        SLUICE_KAFKA_TLS: 'true',
        SLUICE_KAFKA_TLS_CA: kafka.authority.ca,
        SLUICE_KAFKA_SASL_MECHANISM: 'scram-sha-512',
        SLUICE_KAFKA_USERNAME: USER.name,
        SLUICE_KAFKA_PASSWORD: USER.password,
      },
    }),
  );
  await instance.start();
}, PATIENCE_MS);
afterAll(async () => {
  await instance?.close();
  await Promise.all([mongo?.stop(), kafka?.stop()]);
  removeDir(scratch);
}, PATIENCE_MS);

const SECRETS = [USER.password, MONGO_USER.password, encodeURIComponent(MONGO_USER.password), 'guessed'];
const tellsNoSecret = (text: string): void => {
  for (const secret of SECRETS) expect(text).not.toContain(secret);
};

/** Starts a role that must end on its own. */
const ended = async (env: NodeJS.ProcessEnv): Promise<{ code: number | null; text: string }> => {
  const settings: NodeJS.ProcessEnv = { ...process.env, ...instance.server.settings, SLUICE_PORT: '0', ...env };
  const role = spawn(process.execPath, [join(ROOT, 'dist/apps/router/src/main.js')], { env: settings, cwd: scratch });
  let text = '';
  for (const stream of [role.stdout, role.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(role, 'close')) as [number | null];
  return { code, text };
};

describe('roles on engines with TLS and users', () => {
  it('run sources and deliver', async () => {
    const source = await instance.deploy(relayCode());
    for (let n = 0; n < 5; n++) await instance.post(source, { n });
    expect(await instance.payloads(source, 5)).toEqual([0, 1, 2, 3, 4].map((n) => ({ n })));
    tellsNoSecret(instance.server.lastOutput);
  }, 300_000);

  it.each([
    [{ SLUICE_KAFKA_PASSWORD: 'guessed' }, /Kafka: .* refuses the user "sluice" with SCRAM-SHA-512/],
    [{ SLUICE_KAFKA_TLS_CA: '' }, /Kafka: the certificate of .* is not trusted: .*SLUICE_KAFKA_TLS_CA/],
    [{ SLUICE_KAFKA_TLS_CA: '/nowhere/ca.pem' }, /SLUICE_KAFKA_TLS_CA names a file that cannot be read/],
  ])(
    'do not start with %j, and say why',
    async (env, why) => {
      const { code, text } = await ended(env);
      expect(code).toBe(1);
      expect(text).toMatch(why);
      tellsNoSecret(text);
    },
    120_000,
  );

  it('do not start with a wrong password of MongoDB', async () => {
    const url = (instance.server.settings['SLUICE_MONGO_URL'] ?? '').replace(/:[^:@/]+@/, ':guessed@');
    const { code, text } = await ended({ SLUICE_MONGO_URL: url });
    expect(code).toBe(1);
    expect(text).toMatch(/MongoDB at 127\.0\.0\.1:\d+ refuses the user of SLUICE_MONGO_URL/);
    tellsNoSecret(text);
  }, 120_000);

  it('show no secret in `sluice config`', async () => {
    const told = await runNode([CLI, 'config'], { ...process.env, ...instance.server.settings }, scratch);
    expect(told).toMatchObject({ status: 0, stderr: '' });
    expect(told.stdout).toMatch(/SLUICE_KAFKA_PASSWORD=\(given\)/);
    tellsNoSecret(told.stdout);
  }, 60_000);
});
