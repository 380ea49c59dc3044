import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RefusedStart } from '#libs/config/refused-start.js';
import { eventually } from '../conformance/eventually.js';
import { all, follow, numberOf, record } from '../conformance/stream-log-harness.js';
import { SESSION_MS, startSecureKafkaBroker, USER, type SecureKafkaBroker } from '#test/engines/kafka-secure-broker.js';
import { brokerSettings } from './admin/broker-settings.js';
import { openKafka, type KafkaSecurity, type KafkaStreamLog } from './index.js';
import { KafkaWorld } from './testing/kafka-world.js';
import { MECHANISMS, type KafkaTls, type KafkaUser, type Mechanism } from './wire/security.js';

/** One broker of the test's own, with TLS and users. */

const PATIENCE_MS = 400_000;
jest.setTimeout(120_000);

type Port = 'saslSsl' | 'saslPlaintext' | 'ssl' | 'mutual' | 'plaintext';

let broker: SecureKafkaBroker;
beforeAll(async () => {
  broker = await startSecureKafkaBroker();
}, PATIENCE_MS);
afterAll(() => broker?.stop(), PATIENCE_MS);

let world: KafkaWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const trusting = (): KafkaTls => ({ ca: readFileSync(broker.authority.ca, 'utf8') });
const user = (mechanism: Mechanism): KafkaUser => ({ mechanism, ...USER });
const mutual = (): KafkaTls => ({
  ...trusting(),
  identity: {
    certificate: readFileSync(broker.client.certificate, 'utf8'),
    key: readFileSync(broker.client.key, 'utf8'),
  },
});

/** Opens a log that its world closes, removing the topics, with the same settings. */
const open = (port: Port, security: KafkaSecurity): Promise<KafkaStreamLog> => {
  world = new KafkaWorld(() => [broker[port]], security);
  return world.open();
};

/** Topics, records small and large, groups with their offsets, settings of brokers. */
const works = async (port: Port, security: KafkaSecurity): Promise<void> => {
  const log = await open(port, security);
  await log.createTopic('t', {});
  const { records: seen, consumer } = await follow(log, { topics: { names: ['t'] } });
  await log.publish(all(50).map((n) => record('t', n)));
  await eventually('all of them', () => seen.length === 50);
  const large = 'x'.repeat(800_000);
  await log.publish(all(10, 50).map((n) => record('t', n, 'k', large)));
  await eventually('the large ones', () => seen.length === 60);
  expect(seen.map(numberOf)).toEqual(all(60));
  expect(seen.slice(50).every(({ value }) => value === large)).toBe(true);
  await consumer.close();
  expect(await log.committed('g', 't')).toEqual({ t: 59 });
  const settings = await brokerSettings([broker[port]], 'spec', security).read(['log.flush.interval.messages']);
  expect(settings?.map(({ values }) => [...values])).toEqual([[['log.flush.interval.messages', '1']]]);
  await log.deleteTopic('t');
  expect(await log.topics('')).toEqual([]);
};

describe('a broker with users', () => {
  it.each(MECHANISMS)('over TLS serves one who comes with %s', async (mechanism) => {
    await works('saslSsl', { tls: trusting(), user: user(mechanism) });
  });

  it('without TLS serves one who comes with SCRAM-SHA-512', async () => {
    await works('saslPlaintext', { user: user('SCRAM-SHA-512') });
  });

  it('lets a session end without a request that fails', async () => {
    const log = await open('saslSsl', { tls: trusting(), user: user('SCRAM-SHA-256') });
    await log.createTopic('t', {});
    const { records: seen } = await follow(log, { topics: { names: ['t'] } });
    world?.warnings.splice(0);
    let sent = 0;
    for (const until = Date.now() + 3 * SESSION_MS; Date.now() < until; sent++) {
      await log.publish([record('t', sent)]);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await eventually('all of them', () => seen.length >= sent);
    expect(seen.map(numberOf)).toEqual(all(sent));
    expect(world?.warnings).toEqual([]);
  });
});

describe('a broker with TLS', () => {
  it('serves without a user', async () => {
    await works('ssl', { tls: trusting() });
  });

  it('serves a client by its certificate', async () => {
    await works('mutual', { tls: mutual() });
  });
});

describe('a start', () => {
  const problem = async (port: Port, security: KafkaSecurity, host = '127.0.0.1'): Promise<Error> => {
    const opening = openKafka({
      brokers: [broker[port].replace('127.0.0.1', host)],
      prefix: `secure-${randomUUID().slice(0, 8)}.`,
      clientId: 'spec',
      replicationFactor: 1,
      security,
      onWarning: () => undefined,
    });
    return opening.then(
      async (log) => {
        await log.close();
        throw new Error('the log was opened');
      },
      (error: Error) => error,
    );
  };
  const refusal = async (...given: Parameters<typeof problem>): Promise<string> => {
    const refused = await problem(...given);
    expect(refused).toBeInstanceOf(RefusedStart);
    expect(refused.message).not.toContain(USER.password);
    return refused.message;
  };

  it.each(MECHANISMS)('with a wrong password is refused with the settings that name it (%s)', async (mechanism) => {
    const wrong = { tls: trusting(), user: { ...user(mechanism), password: 'guessed' } };
    const text = await refusal('saslSsl', wrong);
    expect(text).toContain(`${broker.saslSsl} refuses the user "sluice" with ${mechanism}`);
    expect(text).toMatch(/SLUICE_KAFKA_USERNAME, SLUICE_KAFKA_PASSWORD/);
    expect(text).not.toContain('guessed');
  });

  it.each(MECHANISMS)('with an unknown user is refused (%s)', async (mechanism) => {
    const unknown = { tls: trusting(), user: { ...user(mechanism), name: 'nobody' } };
    expect(await refusal('saslSsl', unknown)).toContain('refuses the user "nobody"');
  });

  it('with a mechanism that the broker does not take is refused with those that it takes', async () => {
    expect(await refusal('saslPlaintext', { user: user('PLAIN') })).toMatch(
      /does not take PLAIN, but SCRAM-SHA-512: set SLUICE_KAFKA_SASL_MECHANISM/,
    );
  });

  it('with a user at a port that takes none is refused', async () => {
    expect(await refusal('plaintext', { user: user('PLAIN') })).toMatch(/takes no user at this port/);
    expect(await refusal('ssl', { tls: trusting(), user: user('PLAIN') })).toMatch(/takes no user at this port/);
  });

  it('does not trust a certificate of an unknown authority', async () => {
    const distrusted = /certificate of 127\.0\.0\.1:\d+ is not trusted: .* SLUICE_KAFKA_TLS_CA/;
    expect(await refusal('ssl', { tls: {} })).toMatch(distrusted);
    expect(await refusal('ssl', { tls: { ca: readFileSync(broker.stranger.ca, 'utf8') } })).toMatch(distrusted);
  });

  it('does not take a certificate for another name', async () => {
    expect(await refusal('ssl', { tls: trusting() }, 'localhost')).toMatch(
      /certificate of localhost:\d+ is for other names/,
    );
  });

  it('without the certificate that the broker wants is refused', async () => {
    expect(await refusal('mutual', { tls: trusting() })).toMatch(
      /wants a certificate of its clients, and none is given .*SLUICE_KAFKA_TLS_CERT/,
    );
    const { certificate, key } = await broker.stranger.issue('other-client', ['DNS:client']);
    const identity = { certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') };
    expect(await refusal('mutual', { tls: { ...trusting(), identity } })).toMatch(/does not trust the one given/);
  });

  it('at the wrong port says what the broker may want', async () => {
    expect((await problem('ssl', {})).message).toMatch(/may want TLS \(SLUICE_KAFKA_TLS\)/);
    expect((await problem('saslPlaintext', {})).message).toMatch(/or a user \(SLUICE_KAFKA_SASL_MECHANISM\)/);
    expect((await problem('saslSsl', { tls: trusting() })).message).toMatch(/may want a user/);
    expect((await problem('plaintext', { tls: trusting() })).message).toMatch(/TLS handshake failed/);
  });
});
