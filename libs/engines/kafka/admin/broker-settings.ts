import kafkajs from 'kafkajs';

const { ConfigResourceTypes, Kafka, KafkaJSProtocolError, logLevel } = kafkajs;

export interface SettingsOfBroker {
  readonly broker: number;
  readonly values: ReadonlyMap<string, string>;
}

export interface BrokerSettings {
  /** Those of every broker; undefined when this user may not read them. Rejects when no broker answers. */
  read(names: readonly string[]): Promise<readonly SettingsOfBroker[] | undefined>;
}

/** The codes of a user without the right to describe the cluster. */
const REFUSED: ReadonlySet<string> = new Set(['CLUSTER_AUTHORIZATION_FAILED', 'TOPIC_AUTHORIZATION_FAILED']);

/** Reads them with a connection that is closed again. */
export const brokerSettings = (brokers: readonly string[], clientId: string): BrokerSettings => ({
  async read(names) {
    const kafka = new Kafka({ brokers: [...brokers], clientId, logLevel: logLevel.NOTHING, retry: { retries: 2 } });
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
