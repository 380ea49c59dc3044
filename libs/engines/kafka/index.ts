import { systemClock, type Clock } from '#libs/kernel/clock.js';
import { Cluster } from './wire/cluster.js';
import { MemberIds } from './wire/member-ids.js';
import { KafkaStreamLog } from './stream-log.js';

export { type KafkaStreamLog } from './stream-log.js';

export interface KafkaOptions {
  /** `host:port` of brokers to ask first. */
  readonly brokers: readonly string[];
  /** Before the name of every topic and group; may be empty. */
  readonly prefix: string;
  readonly clientId: string;
  /** Of topics created from now on. */
  readonly replicationFactor: number;
  /** After so long without a heartbeat a process's lanes are given to others. Default: 6 s, the least that brokers allow. */
  readonly sessionTimeoutMs?: number | undefined;
  /** A folder of this process, kept over restarts: lets a restarted process take its lanes back at once. */
  readonly stateDir?: string | undefined;
  readonly onWarning: (text: string, fields: Record<string, unknown>) => void;
  readonly clock?: Clock;
  /** How often what is consumed is dropped. Default: 30 s. */
  readonly sweepEveryMs?: number;
}

/** Rejects within about 3 s, naming the brokers, when none answers. */
export const openKafka = async (options: KafkaOptions): Promise<KafkaStreamLog> => {
  const { brokers, clientId, onWarning, prefix, replicationFactor, stateDir, clock = systemClock } = options;
  const cluster = new Cluster({ brokers, clientId, onWarning });
  try {
    await cluster.ping();
    await cluster.refresh();
  } catch (error) {
    cluster.close();
    throw error;
  }
  const { sessionTimeoutMs = 6_000, sweepEveryMs = 30_000 } = options;
  return new KafkaStreamLog(
    cluster,
    { prefix, replicationFactor, sessionTimeoutMs, sweepEveryMs },
    new MemberIds(stateDir),
    clock,
  );
};
