import { connect, isIP, isIPv6 } from 'node:net';
import { connect as connectTls } from 'node:tls';
import kafkajs, { type ISocketFactory, type SASLOptions } from 'kafkajs';
import { tlsOptions, type KafkaSecurity, type KafkaUser } from '../wire/security.js';

const { ConfigResourceTypes, Kafka, KafkaJSProtocolError, logLevel } = kafkajs;

export interface SettingsOfBroker {
  readonly broker: number;
  readonly values: ReadonlyMap<string, string>;
}

export interface BrokerSettings {
  /** Settings of every broker; undefined when this user may not read them. Rejects when no broker answers. */
  read(names: readonly string[]): Promise<readonly SettingsOfBroker[] | undefined>;
}

/** Error codes for a user without the right to describe the cluster. */
const REFUSED: ReadonlySet<string> = new Set(['CLUSTER_AUTHORIZATION_FAILED', 'TOPIC_AUTHORIZATION_FAILED']);

/** Opens a connection for each read of the settings, and closes it afterwards. */
export const brokerSettings = (
  brokers: readonly string[],
  clientId: string,
  { tls, user }: KafkaSecurity = {},
): BrokerSettings => ({
  async read(names) {
    const kafka = new Kafka({
      ...withIpv6(brokers),
      clientId,
      ...(tls === undefined ? {} : { ssl: tlsOptions(tls) }),
      ...(user === undefined ? {} : { sasl: saslOf(user) }),
      // These connections end sooner than any session, and brokers refuse a second authentication of a client within a
      // second.
      reauthenticationThreshold: 0,
      logLevel: logLevel.NOTHING,
      retry: { retries: 2 },
    });
    const admin = kafka.admin();
    try {
      await admin.connect();
      const { brokers: all } = await admin.describeCluster();
      const resources = all.map(({ nodeId }) => ({
        type: ConfigResourceTypes.BROKER,
        name: String(nodeId),
        configNames: [...names],
      }));
      const answer = await admin.describeConfigs({ resources, includeSynonyms: false });
      return answer.resources.map(({ resourceName, configEntries }) => ({
        broker: Number(resourceName),
        values: new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
      }));
    } catch (error) {
      if (error instanceof KafkaJSProtocolError && REFUSED.has(error.type)) return undefined;
      throw error;
    } finally {
      await admin.disconnect();
    }
  },
});

/** The client cuts `host:port` at the first colon, so an IPv6 address in brackets is replaced by a name. */
const withIpv6 = (brokers: readonly string[]): { brokers: string[]; socketFactory?: ISocketFactory } => {
  const addresses = new Map<string, string>();
  const named = brokers.map((broker, n) => {
    const [, address = '', port = ''] = /^\[(.*)\]:(\d+)$/.exec(broker) ?? [];
    if (!isIPv6(address)) return broker;
    addresses.set(`ipv6-${n}.invalid`, address);
    return `ipv6-${n}.invalid:${port}`;
  });
  if (addresses.size === 0) return { brokers: named };
  return {
    brokers: named,
    socketFactory: ({ host: name, port, ssl, onConnect }) => {
      const host = addresses.get(name) ?? name;
      const servername = isIP(host) === 0 ? { servername: host } : {};
      // Despite its type, the client passes no options without TLS.
      const options = ssl as typeof ssl | undefined;
      return options
        ? connectTls({ host, port, ...servername, ...options }, onConnect)
        : connect({ host, port }, onConnect);
    },
  };
};

const saslOf = ({ mechanism, name: username, password }: KafkaUser): SASLOptions => {
  switch (mechanism) {
    case 'PLAIN':
      return { mechanism: 'plain', username, password };
    case 'SCRAM-SHA-256':
      return { mechanism: 'scram-sha-256', username, password };
    case 'SCRAM-SHA-512':
      return { mechanism: 'scram-sha-512', username, password };
  }
};
