import { failIf } from '../wire/broker-connection.js';
import { type Cluster } from '../wire/cluster.js';
import { CODE } from '../wire/protocol.js';

export interface SettingsOfBroker {
  readonly broker: number;
  readonly values: ReadonlyMap<string, string>;
}

export interface BrokerSettings {
  /** Those of every broker that is up; undefined when this user may not read them. Rejects when one does not answer. */
  read(names: readonly string[]): Promise<readonly SettingsOfBroker[] | undefined>;
}

/** A broker tells its own settings only. */
export const brokerSettings = (cluster: Pick<Cluster, 'brokers' | 'call'>): BrokerSettings => ({
  async read(names) {
    const found = await Promise.all(cluster.brokers().map((broker) => readOne(cluster, broker, names)));
    return found.includes(undefined) ? undefined : found.filter((each) => each !== undefined);
  },
});

const readOne = async (
  cluster: Pick<Cluster, 'call'>,
  broker: number,
  names: readonly string[],
): Promise<SettingsOfBroker | undefined> => {
  const { errorCode, errorMessage, entries } = await cluster.call(broker, 'settings', 'DescribeBrokerConfigs', {
    broker,
    names,
  });
  if (errorCode === CODE.CLUSTER_AUTHORIZATION_FAILED) return undefined;
  failIf(`the configuration of broker ${broker}`, errorCode, errorMessage);
  return { broker, values: new Map(entries.map(({ name, value }) => [name, value])) };
};
