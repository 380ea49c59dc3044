import { type Cluster } from '../wire/cluster.js';
import { type BrokerSettings } from './broker-settings.js';

const OFFSETS_RETENTION = 'offsets.retention.minutes';
const MINUTE_MS = 60_000;

/**
 * Warns when Kafka forgets a group's offsets sooner than `keptMs`, the longest time that records are kept. A group
 * whose members were all away for longer begins at the oldest record, and so reads kept records twice. Says nothing
 * when the brokers' settings may not be read, because verifyDurability has reported that.
 */
export const checkOffsetsRetention = async (
  cluster: Pick<Cluster, 'warn'>,
  brokers: BrokerSettings,
  keptMs: number,
): Promise<void> => {
  const settings = await brokers.read([OFFSETS_RETENTION]);
  const minutes = Math.ceil(keptMs / MINUTE_MS);
  const low = (settings ?? []).find(({ values }) => Number(values.get(OFFSETS_RETENTION) ?? Infinity) < minutes);
  if (!low) return;
  cluster.warn(
    'what groups have read is forgotten sooner than records are dropped',
    `set ${OFFSETS_RETENTION} of the brokers to at least ${minutes}, or SLUICE_EMITS_RETENTION_DAYS lower`,
    { broker: low.broker, [OFFSETS_RETENTION]: low.values.get(OFFSETS_RETENTION) },
  );
};
