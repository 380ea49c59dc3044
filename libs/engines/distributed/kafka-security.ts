import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SETTINGS, type Config } from '#libs/config/index.js';
import { RefusedStart } from '#libs/config/refused-start.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type KafkaSecurity, type KafkaUser, type Mechanism } from '../kafka/index.js';

/** Reads the files that the settings name. Throws RefusedStart, naming the setting, when one cannot be used. */
export const kafkaSecurityOf = (config: Config): KafkaSecurity => ({
  tls: config.kafkaTls ? { ca: caOf(config), identity: identityOf(config) } : undefined,
  user: userOf(config),
});

const caOf = ({ kafkaTlsCa }: Config): string | undefined =>
  kafkaTlsCa === null ? undefined : pemFile(SETTINGS.kafkaTlsCa.name, kafkaTlsCa, certificates);

const identityOf = ({ kafkaTlsCert, kafkaTlsKey }: Config): { certificate: string; key: string } | undefined => {
  if (kafkaTlsCert === null || kafkaTlsKey === null) return undefined;
  const certificate = pemFile(SETTINGS.kafkaTlsCert.name, kafkaTlsCert, certificates);
  const key = pemFile(SETTINGS.kafkaTlsKey.name, kafkaTlsKey, createPrivateKey);
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    throw new RefusedStart(
      `${SETTINGS.kafkaTlsKey.name} is not the key of ${SETTINGS.kafkaTlsCert.name}: give the key that belongs to it`,
    );
  }
  return { certificate, key };
};

const pemFile = (name: string, path: string, check: (pem: string) => unknown): string => {
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    throw new RefusedStart(`${name} names a file that cannot be read: ${messageOf(error)}`);
  }
  try {
    check(pem);
  } catch (error) {
    throw new RefusedStart(`${name} is ${JSON.stringify(path)}, which is not of the form PEM: ${messageOf(error)}`);
  }
  return pem;
};

/** OpenSSL accepts any text as authorities, and then trusts none. */
const certificates = (pem: string): void => {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('it has no "BEGIN CERTIFICATE"');
  for (const block of blocks) new X509Certificate(block);
};

const MECHANISM_OF: Readonly<Record<Exclude<Config['kafkaSaslMechanism'], 'none'>, Mechanism>> = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
};

const userOf = ({ kafkaSaslMechanism, kafkaUsername, kafkaPassword }: Config): KafkaUser | undefined =>
  kafkaSaslMechanism === 'none' || kafkaUsername === null || kafkaPassword === null
    ? undefined
    : { mechanism: MECHANISM_OF[kafkaSaslMechanism], name: kafkaUsername, password: kafkaPassword };
