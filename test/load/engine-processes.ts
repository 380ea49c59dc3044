import { join } from 'node:path';
import { startFerretDb } from '#test/engines/ferretdb.js';
import { startKafkaBroker } from '#test/engines/kafka-broker.js';
import { startStandIn } from '#test/engines/stand-in-process.js';
import { type EngineAddresses } from '#test/harness/deployment.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type Part } from './part-usage.js';

export interface EngineProcesses {
  readonly addresses: EngineAddresses;
  /** The broker's folder of partitions. */
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
}

/** Starts the servers of a distributed installation in temp folders. */
export const startEngineProcesses = async ({ kafkaHeapMb, kafkaFlush }: EngineOptions): Promise<EngineProcesses> => {
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
    const dir = tempDir('kafka');
    stops.push(() => Promise.resolve(removeDir(dir)));
    const settings: Record<string, string> = kafkaFlush ? { 'log.flush.interval.messages': '1' } : {};
    const kafka = await started('kafka', () => startKafkaBroker({ dir, heapMb: kafkaHeapMb, settings, forLoad: true }));
    const mongo = await started('ferretdb', () => startFerretDb());
    const eventStore = await started('eventstore', () => startStandIn());
    return {
      addresses: { kafka: kafka.brokers, mongo: mongo.url, eventStore: eventStore.url },
      kafkaData: join(dir, 'data'),
      startMs,
      parts: () => [
        { name: 'Kafka broker', pid: kafka.pid },
        { name: 'FerretDB', pid: mongo.pid },
        { name: 'EventStoreDB stand-in', pid: eventStore.pid },
      ],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
