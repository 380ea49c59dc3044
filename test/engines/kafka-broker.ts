import { removeDir, tempDir } from '../harness/temp-dir.js';
import { freePorts } from './free-port.js';
import { kafkaVersion, startKafkaProcess, type KafkaProcess } from './kafka-process.js';

export interface KafkaBrokerOptions {
  /** Default: any free port, kept over restarts. */
  readonly port?: number;
  /** Folder of its files. Default: a new one, removed by `stop`. */
  readonly dir?: string;
  /** Default: 384. */
  readonly heapMb?: number;
  /** Settings of the broker, in addition to the test defaults or instead of them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Use the JVM's production collector and compiler, not those with the fastest start. */
  readonly forLoad?: boolean;
}

/**
 * A real Apache Kafka in KRaft mode, with broker and controller in one process. Topics are not created automatically.
 */
export interface KafkaBroker extends Pick<KafkaProcess, 'pid' | 'kill9' | 'shutDown' | 'start'> {
  readonly brokers: string;
  readonly version: string;
  /** Ends it, and removes its folder if it created one. Idempotent. */
  stop(): Promise<void>;
}

export const startKafkaBroker = async (options: KafkaBrokerOptions = {}): Promise<KafkaBroker> => {
  const [free = 0, controllerPort = 0] = await freePorts(2);
  const dir = options.dir ?? tempDir('kafka');
  const broker = await startKafkaProcess({
    id: 1,
    dir,
    port: options.port ?? free,
    controllerPort,
    voters: `1@127.0.0.1:${controllerPort}`,
    heapMb: options.heapMb ?? 384,
    settings: options.settings ?? {},
    forLoad: options.forLoad ?? false,
  });
  return {
    brokers: broker.address,
    version: kafkaVersion(),
    get pid() {
      return broker.pid;
    },
    kill9: () => broker.kill9(),
    shutDown: () => broker.shutDown(),
    start: () => broker.start(),
    stop: async () => {
      await broker.shutDown();
      if (options.dir === undefined) removeDir(dir);
    },
  };
};
