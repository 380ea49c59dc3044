import { join } from 'node:path';
import { startEventStore } from '#test/engines/eventstore-server.js';
import { startFerretDb } from '#test/engines/ferretdb.js';
import { startKafkaBroker } from '#test/engines/kafka-broker.js';
import { startKafkaCluster } from '#test/engines/kafka-cluster.js';
import { type EngineAddresses } from '#test/harness/deployment.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type Part } from './part-usage.js';

export interface EngineProcesses {
  readonly addresses: EngineAddresses;
  /** The broker's folder of partitions, of three brokers the first one's. */
  readonly kafkaData: string;
  /** Time from start to listening of each process, ms. All start at the same time. */
  readonly startMs: Readonly<Record<string, number>>;
  parts(): readonly Part[];
  /** Ends the processes and removes their folders. */
  stop(): Promise<void>;
}

export interface EngineOptions {
  readonly kafkaHeapMb: number;
  /** True: every append waits for the disk, as docker-compose.yml sets it for a single broker. */
  readonly kafkaFlush: boolean;
  /** Three brokers keep three copies of each topic. Default: 1. */
  readonly kafkaBrokers?: 1 | 3;
}

/** Starts the servers of a distributed installation in temp folders. */
export const startEngineProcesses = async (options: EngineOptions): Promise<EngineProcesses> => {
  const stops: (() => Promise<void>)[] = [];
  const startMs: Record<string, number> = {};
  const started = async <T extends { stop(): Promise<void> }>(name: string, start: () => Promise<T>): Promise<T> => {
    const before = performance.now();
    const server = await start();
    startMs[name] = performance.now() - before;
    stops.push(() => server.stop());
    return server;
  };
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const kafka = await started('kafka', () => startKafka(options));
    const mongo = await started('ferretdb', () => startFerretDb());
    const eventStore = await started('eventstore', () => startEventStore());
    return {
      addresses: { kafka: kafka.brokers, mongo: mongo.url, eventStore: eventStore.url },
      kafkaData: kafka.data,
      startMs,
      parts: () => [
        ...kafka.pids.map((pid) => ({ name: 'Kafka broker', pid })),
        { name: 'FerretDB', pid: mongo.pid },
        { name: 'EventStoreDB', pid: eventStore.pid },
      ],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

interface Kafka {
  readonly brokers: string;
  readonly pids: readonly number[];
  readonly data: string;
  stop(): Promise<void>;
}

const startKafka = async ({ kafkaHeapMb: heapMb, kafkaFlush, kafkaBrokers = 1 }: EngineOptions): Promise<Kafka> => {
  const settings: Record<string, string> = kafkaFlush ? { 'log.flush.interval.messages': '1' } : {};
  if (kafkaBrokers === 3) {
    const cluster = await startKafkaCluster({ heapMb, settings, forLoad: true });
    const { addresses, brokers, data } = cluster;
    const pids = brokers.map(({ pid }) => pid);
    return { brokers: addresses.join(','), pids, data: data[0] ?? '', stop: () => cluster.stop() };
  }
  const dir = tempDir('kafka');
  const broker = await startKafkaBroker({ dir, heapMb, settings, forLoad: true });
  const stop = async (): Promise<void> => {
    await broker.stop();
    removeDir(dir);
  };
  return { brokers: broker.brokers, pids: [broker.pid], data: join(dir, 'data'), stop };
};
