import { join } from 'node:path';
import { removeDir, tempDir } from '../harness/temp-dir.js';
import { freePorts } from './free-port.js';
import { startKafkaProcess, type KafkaProcess } from './kafka-process.js';

export interface KafkaClusterOptions {
  /** Default: 256 for each broker. */
  readonly heapMb?: number;
  /** Settings of every broker, in addition to those of the test or instead of them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** As of a single process (kafka-process.ts). Default: false. */
  readonly forLoad?: boolean;
}

/** Three real brokers in KRaft mode, each a controller too. Their own topics have three copies. */
export interface KafkaCluster {
  readonly brokers: readonly KafkaProcess[];
  readonly addresses: readonly string[];
  /** Folder of the partitions of each broker. */
  readonly data: readonly string[];
  /** The broker with this node id. */
  node(id: number): KafkaProcess;
  /** Ends all, and removes their folders. Idempotent. */
  stop(): Promise<void>;
}

const IDS = [1, 2, 3] as const;

const SETTINGS = {
  'default.replication.factor': '3',
  'offsets.topic.replication.factor': '3',
  'min.insync.replicas': '2',
  'log.flush.interval.messages': '9223372036854775807',
  // A preferred leader that is back leads again within seconds, not minutes.
  'leader.imbalance.check.interval.seconds': '2',
  'leader.imbalance.per.broker.percentage': '0',
  // A broker that hangs is fenced within seconds.
  'broker.session.timeout.ms': '6000',
  'replica.lag.time.max.ms': '6000',
};

export const startKafkaCluster = async ({
  heapMb = 256,
  settings = {},
  forLoad = false,
}: KafkaClusterOptions = {}): Promise<KafkaCluster> => {
  const ports = await freePorts(2 * IDS.length);
  const voters = IDS.map((id, i) => `${id}@127.0.0.1:${ports[IDS.length + i]}`).join(',');
  const dir = tempDir('kafka-cluster');
  const brokers = await Promise.all(
    IDS.map((id, i) =>
      startKafkaProcess({
        id,
        dir: join(dir, String(id)),
        port: ports[i] ?? 0,
        controllerPort: ports[IDS.length + i] ?? 0,
        voters,
        heapMb,
        settings: { ...SETTINGS, ...settings },
        forLoad,
      }),
    ),
  );
  return {
    brokers,
    addresses: brokers.map(({ address }) => address),
    data: IDS.map((id) => join(dir, String(id), 'data')),
    node: (id) => {
      const found = brokers.find((broker) => broker.id === id);
      if (!found) throw new Error(`no broker ${id}`);
      return found;
    },
    stop: async () => {
      await Promise.all(brokers.map((broker) => broker.kill9()));
      removeDir(dir);
    },
  };
};
