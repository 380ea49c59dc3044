import { eventStoreHome, startEventStore } from '#test/engines/eventstore-server.js';
import { startFerretDb } from '#test/engines/ferretdb.js';
import { startKafkaBroker } from '#test/engines/kafka-broker.js';
import { startStandIn } from '#test/engines/stand-in-process.js';
import { type EngineAddresses } from '#test/harness/deployment.js';

/** A server that restarts on its files, at the same address. */
export interface Killable {
  kill9(): Promise<void>;
  start(): Promise<void>;
}

export interface EngineServers {
  readonly addresses: EngineAddresses;
  readonly broker: Killable;
  readonly mongo: Killable;
  readonly eventStore: Killable;
  /** Ends the servers and removes their folders. */
  stop(): Promise<void>;
}

/**
 * Our own servers, so that they may be killed: Kafka, FerretDB, and the EventStoreDB that SLUICE_TEST_EVENTSTORE_HOME
 * names, else its stand-in.
 */
export const startEngineServers = async (): Promise<EngineServers> => {
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
  const home = eventStoreHome();
  const [broker, ferret, eventStore] = await Promise.allSettled([
    started(startKafkaBroker()),
    started(startFerretDb()),
    home === undefined ? started(startStandIn()) : started(startEventStore(home)),
  ]);
  if (broker.status === 'rejected' || ferret.status === 'rejected' || eventStore.status === 'rejected') {
    await stop();
    const failed = [broker, ferret, eventStore].find(({ status }) => status === 'rejected');
    throw failed?.status === 'rejected' ? failed.reason : new Error('a server did not start');
  }
  return {
    addresses: { kafka: broker.value.brokers, mongo: ferret.value.url, eventStore: eventStore.value.url },
    broker: broker.value,
    mongo: ferret.value,
    eventStore: eventStore.value,
    stop,
  };
};
