import { startEventStore } from '#test/engines/eventstore-server.js';
import { startFerretDb } from '#test/engines/ferretdb.js';
import { startKafkaBroker } from '#test/engines/kafka-broker.js';
import { startKafkaCluster, type KafkaCluster } from '#test/engines/kafka-cluster.js';
import { type KafkaProcess } from '#test/engines/kafka-process.js';
import { type EngineAddresses } from '#test/harness/deployment.js';

/** A server that restarts on its files, at the same address. */
export interface Killable {
  kill9(): Promise<void>;
  start(): Promise<void>;
}

export interface EngineServers {
  readonly addresses: EngineAddresses;
  /** One of three brokers, another one at each kill. */
  readonly broker: Killable;
  /** The three brokers, if there are three. */
  readonly cluster?: KafkaCluster;
  readonly mongo: Killable;
  readonly eventStore: Killable;
  /** Ends the servers and removes their folders. */
  stop(): Promise<void>;
}

interface Brokers extends Killable {
  readonly brokers: string;
  readonly cluster?: KafkaCluster;
  stop(): Promise<void>;
}

/** Three brokers, of which each kill ends the next one, and `start` brings back the one that was ended. */
const startThreeBrokers = async (): Promise<Brokers> => {
  const cluster = await startKafkaCluster();
  let turn = 0;
  let ended: KafkaProcess | undefined;
  return {
    cluster,
    brokers: cluster.addresses.join(','),
    async kill9() {
      ended = cluster.brokers[turn++ % cluster.brokers.length];
      await ended?.kill9();
    },
    start: async () => ended?.start(),
    stop: () => cluster.stop(),
  };
};

/**
 * Our own servers, so that they may be killed: Kafka, FerretDB, and the EventStoreDB that SLUICE_TEST_EVENTSTORE_HOME
 * names. Roles on three brokers need SLUICE_KAFKA_REPLICATION=3.
 */
export const startEngineServers = async (threeBrokers = false): Promise<EngineServers> => {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    const ended = await Promise.allSettled(stops.splice(0).map((each) => each()));
    const failed = ended.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  };
  const started = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const server = await starting;
    stops.push(() => server.stop());
    return server;
  };
  const [broker, ferret, eventStore] = await Promise.allSettled([
    started<Brokers>(threeBrokers ? startThreeBrokers() : startKafkaBroker()),
    started(startFerretDb()),
    started(startEventStore()),
  ]);
  if (broker.status === 'rejected' || ferret.status === 'rejected' || eventStore.status === 'rejected') {
    await stop();
    const failed = [broker, ferret, eventStore].find(({ status }) => status === 'rejected');
    throw failed?.status === 'rejected' ? failed.reason : new Error('a server did not start');
  }
  return {
    addresses: { kafka: broker.value.brokers, mongo: ferret.value.url, eventStore: eventStore.value.url },
    broker: broker.value,
    ...(broker.value.cluster && { cluster: broker.value.cluster }),
    mongo: ferret.value,
    eventStore: eventStore.value,
    stop,
  };
};
