import { isIPv6 } from 'node:net';
import { choice, flag, integer, list, optionalText, text } from './setting.js';

const ENGINES = 'Engines';

const PEM_FILE = 'the path of a PEM file';

/**
 * Checks only the scheme. The engine's client checks the rest at the start (docs/reference/config.md#engine-urls),
 * because only it knows its syntax: for Node a text with several hosts is not a URL.
 */
const url =
  (scheme: RegExp) =>
  (given: string): string | undefined =>
    scheme.test(given) && !/\s/.test(given) ? given : undefined;

const PORT = /^\d{1,5}$/;

/** Returns why an entry of a list of brokers is wrong. */
const broker = (entry: string): string | undefined => {
  const [, address, name, port = ''] = /^(?:\[([^\]]*)\]|([^\s:/@[\]]+)):(\S*)$/.exec(entry) ?? [];
  if (address === undefined && name === undefined)
    return `"${entry}" is not host:port${isIPv6(entry.replace(/:\d+$/, '')) ? '; write an IPv6 address as [address]:port' : ''}`;
  if (address !== undefined && !isIPv6(address)) return `"${address}" in "${entry}" is no IPv6 address`;
  return PORT.test(port) && Number(port) >= 1 && Number(port) <= 65_535
    ? undefined
    : `"${entry}" is not host:port, with a port from 1 to 65535`;
};

/** No dot, so that an installation never shares names with another whose prefix begins with its own. */
const prefix = (given: string): string | undefined => (/^[A-Za-z0-9_]{1,60}$/.test(given) ? given : undefined);

/** Settings of the storage engines. */
export const engines = {
  engine: choice({
    name: 'SLUICE_ENGINE',
    group: ENGINES,
    values: ['embedded', 'distributed'],
    fallback: 'embedded',
    sentence: 'embedded: files in the data directory. distributed: EventStoreDB, MongoDB and Kafka.',
  }),
  eventStoreUrl: optionalText({
    name: 'SLUICE_EVENTSTORE_URL',
    group: ENGINES,
    shownDefault: 'none',
    allowed: 'an esdb:// or esdb+discover:// URL, with one host or several',
    accept: url(/^esdb(\+discover)?:\/\/[^/?]/),
    sentence: 'EventStoreDB of the distributed engine.',
  }),
  mongoUrl: optionalText({
    name: 'SLUICE_MONGO_URL',
    group: ENGINES,
    shownDefault: 'none',
    allowed: 'a mongodb:// or mongodb+srv:// URL, with one host or several',
    accept: url(/^mongodb(\+srv)?:\/\/[^/?]/),
    sentence:
      'MongoDB of the distributed engine. maxPoolSize in it is the number of connections to each server for each process; 50 without it.',
  }),
  kafkaBrokers: list({
    name: 'SLUICE_KAFKA_BROKERS',
    group: ENGINES,
    allowed: 'host:port, or [address]:port with an IPv6 address',
    check: broker,
    sentence: 'Kafka brokers of the distributed engine.',
  }),
  kafkaTls: flag({
    name: 'SLUICE_KAFKA_TLS',
    group: ENGINES,
    fallback: false,
    sentence: 'Connect to the brokers with TLS, and check their certificates.',
  }),
  kafkaTlsCa: optionalText({
    name: 'SLUICE_KAFKA_TLS_CA',
    group: ENGINES,
    shownDefault: 'the authorities that Node trusts',
    allowed: PEM_FILE,
    sentence: "Authorities that sign the brokers' certificates, with SLUICE_KAFKA_TLS.",
  }),
  kafkaTlsCert: optionalText({
    name: 'SLUICE_KAFKA_TLS_CERT',
    group: ENGINES,
    shownDefault: 'none',
    allowed: PEM_FILE,
    sentence: 'Certificate of this process, for brokers that ask for one.',
  }),
  kafkaTlsKey: optionalText({
    name: 'SLUICE_KAFKA_TLS_KEY',
    group: ENGINES,
    shownDefault: 'none',
    allowed: PEM_FILE,
    sentence: 'Private key of SLUICE_KAFKA_TLS_CERT.',
  }),
  kafkaSaslMechanism: choice({
    name: 'SLUICE_KAFKA_SASL_MECHANISM',
    group: ENGINES,
    values: ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
    fallback: 'none',
    sentence:
      'How the brokers check SLUICE_KAFKA_USERNAME and SLUICE_KAFKA_PASSWORD (SASL). plain sends the password, so use it with SLUICE_KAFKA_TLS.',
  }),
  kafkaUsername: optionalText({
    name: 'SLUICE_KAFKA_USERNAME',
    group: ENGINES,
    shownDefault: 'none',
    allowed: 'a name without commas, = and control characters',
    accept: (given) => (/^[^,=\p{Cc}]+$/u.test(given) ? given : undefined),
    sentence: 'User of the Kafka brokers.',
  }),
  kafkaPassword: optionalText({
    name: 'SLUICE_KAFKA_PASSWORD',
    group: ENGINES,
    shownDefault: 'none',
    allowed: 'a text without control characters',
    secret: true,
    accept: (given) => (/^\P{Cc}+$/u.test(given) ? given : undefined),
    sentence: 'Password of SLUICE_KAFKA_USERNAME.',
  }),
  prefix: text({
    name: 'SLUICE_PREFIX',
    group: ENGINES,
    fallback: 'sluice',
    allowed: '1 to 60 letters, digits and _',
    accept: prefix,
    sentence:
      'First part of the name of each stream, topic and consumer group, up to a dot, so that installations and other programs can share an EventStoreDB and a Kafka cluster. Do not change it once there are events.',
  }),
  kafkaReplication: integer({
    name: 'SLUICE_KAFKA_REPLICATION',
    group: ENGINES,
    min: 1,
    max: 9,
    fallback: 1,
    unit: 'copies',
    sentence: 'Copies of each topic; 3 on a cluster of three brokers or more.',
  }),
  kafkaDurability: choice({
    name: 'SLUICE_KAFKA_DURABILITY',
    group: ENGINES,
    values: ['required', 'best_effort'],
    fallback: 'required',
    sentence:
      'required: no process starts while Kafka could lose what it acknowledges (one copy without a flush of each append; offsets with fewer copies). best_effort: it starts and warns.',
  }),
  topics: choice({
    name: 'SLUICE_TOPICS',
    group: ENGINES,
    values: ['per_emitter', 'shared'],
    fallback: 'per_emitter',
    sentence:
      'per_emitter: separate topics for each source and webhook, so a slow one delays no other. shared: a fixed number of partitions for all, for more emitters than the brokers can hold topics. Do not change it once there are sources.',
  }),
  topicPartitions: integer({
    name: 'SLUICE_TOPIC_PARTITIONS',
    group: ENGINES,
    min: 1,
    max: 10_000,
    fallback: 48,
    unit: 'partitions',
    sentence: 'Partitions of each topic under SLUICE_TOPICS=shared. Do not change it once there are sources.',
  }),
} as const;
