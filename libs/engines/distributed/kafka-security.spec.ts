import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeConfig, loadConfig, WrongSettings } from '#libs/config/index.js';
import { RefusedStart } from '#libs/config/refused-start.js';
import { makeAuthority, type Authority, type Certified } from '#test/engines/certificates.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { kafkaSecurityOf } from './kafka-security.js';

const dir = tempDir('kafka-security');
let authority: Authority;
let client: Certified;
let other: Certified;
beforeAll(async () => {
  authority = await makeAuthority(dir);
  client = await authority.issue('client', ['DNS:client']);
  other = await authority.issue('other', ['DNS:other']);
});
afterAll(() => removeDir(dir));

const TLS = { SLUICE_KAFKA_TLS: 'true' };
const USER = {
  SLUICE_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
  SLUICE_KAFKA_USERNAME: 'sluice',
  SLUICE_KAFKA_PASSWORD: 'a secret, =ü',
};
const security = (env: Record<string, string>) => kafkaSecurityOf(loadConfig(env));
const refusal = (env: Record<string, string>): string => {
  try {
    security(env);
  } catch (error) {
    if (error instanceof RefusedStart) return error.message;
    throw error;
  }
  throw new Error('it was not refused');
};
const problems = (env: Record<string, string>): readonly string[] => {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof WrongSettings) return error.problems;
    throw error;
  }
  return [];
};

describe('the settings of Kafka', () => {
  it('ask for neither TLS nor a user by themselves', () => {
    expect(security({})).toEqual({ tls: undefined, user: undefined });
  });

  it('name a user, whose password is never shown', () => {
    const config = loadConfig(USER);
    expect(kafkaSecurityOf(config).user).toEqual({
      mechanism: 'SCRAM-SHA-512',
      name: 'sluice',
      password: 'a secret, =ü',
    });
    expect(JSON.stringify(describeConfig(config))).not.toContain('a secret');
  });

  it('name files of authorities, of a certificate and of its key', () => {
    const { certificate, key } = client;
    const given = { SLUICE_KAFKA_TLS_CA: authority.ca, SLUICE_KAFKA_TLS_CERT: certificate, SLUICE_KAFKA_TLS_KEY: key };
    const { tls } = security(Object.assign({}, TLS, given));
    expect(tls?.ca).toContain('BEGIN CERTIFICATE');
    expect(tls?.identity?.certificate).toContain('BEGIN CERTIFICATE');
    expect(tls?.identity?.key).toContain('PRIVATE KEY');
    expect(security(TLS).tls).toEqual({ ca: undefined, identity: undefined });
  });

  it.each([
    [
      { SLUICE_KAFKA_SASL_MECHANISM: 'oauthbearer' },
      'SLUICE_KAFKA_SASL_MECHANISM is "oauthbearer"; allowed: one of none, plain, scram-sha-256, scram-sha-512',
    ],
    [
      { SLUICE_KAFKA_PASSWORD: 'a\u0000b', SLUICE_KAFKA_USERNAME: 'sluice', SLUICE_KAFKA_SASL_MECHANISM: 'plain' },
      'SLUICE_KAFKA_PASSWORD is a value of 3 characters; allowed: a text without control characters',
    ],
    [
      { SLUICE_KAFKA_SASL_MECHANISM: 'plain', SLUICE_KAFKA_PASSWORD: 'x' },
      'SLUICE_KAFKA_SASL_MECHANISM is given without SLUICE_KAFKA_USERNAME: give both, or neither',
    ],
    [
      { SLUICE_KAFKA_SASL_MECHANISM: 'plain', SLUICE_KAFKA_USERNAME: 'sluice' },
      'SLUICE_KAFKA_SASL_MECHANISM is given without SLUICE_KAFKA_PASSWORD: give both, or neither',
    ],
    [
      { SLUICE_KAFKA_PASSWORD: 'x' },
      'SLUICE_KAFKA_PASSWORD is given without SLUICE_KAFKA_SASL_MECHANISM (one of none, plain, scram-sha-256, scram-sha-512): give both, or neither',
    ],
    [
      { SLUICE_KAFKA_TLS_CA: '/ca.pem' },
      'SLUICE_KAFKA_TLS_CA is given without SLUICE_KAFKA_TLS=true: give both, or neither',
    ],
    [
      { SLUICE_KAFKA_TLS: 'true', SLUICE_KAFKA_TLS_CERT: '/cert.pem' },
      'SLUICE_KAFKA_TLS_CERT is given without SLUICE_KAFKA_TLS_KEY: give both, or neither',
    ],
  ])('%j are refused', (env, problem) => {
    expect(problems(env as Record<string, string>)).toContain(problem);
  });

  it('name files that can be used, or the start is refused with the setting', () => {
    const text = join(dir, 'text.pem');
    writeFileSync(text, 'not a certificate');
    const ca = (path: string): string => refusal(Object.assign({ SLUICE_KAFKA_TLS_CA: path }, TLS));
    expect(ca(join(dir, 'missing.pem'))).toMatch(
      /^SLUICE_KAFKA_TLS_CA names a file that cannot be read: .*missing\.pem/,
    );
    expect(ca(text)).toMatch(/^SLUICE_KAFKA_TLS_CA is ".*text\.pem", which is not of the form PEM/);
    expect(ca(client.key)).toMatch(/^SLUICE_KAFKA_TLS_CA/);
    const pair = (certificate: string, key: string): string =>
      refusal(Object.assign({ SLUICE_KAFKA_TLS_CERT: certificate, SLUICE_KAFKA_TLS_KEY: key }, TLS));
    expect(pair(client.certificate, text)).toMatch(/^SLUICE_KAFKA_TLS_KEY is .*not of the form PEM/);
    expect(pair(client.certificate, other.key)).toMatch(
      /^SLUICE_KAFKA_TLS_KEY is not the key of SLUICE_KAFKA_TLS_CERT/,
    );
  });
});
