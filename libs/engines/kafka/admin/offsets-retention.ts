import { type Cluster } from '../wire/cluster.js';
import { type BrokerSettings } from './broker-settings.js';

const OFFSETS_RETENTION = 'offsets.retention.minutes';
const MINUTE_MS = 60_000;

/**
 * Warns when Kafka forgets what a group has read sooner than `keptMs`, the longest that records are kept. A group whose
 * members were all away for longer than Kafka remembers it begins at the oldest record. When records are kept for
 * longer, it then takes some a second time. When the brokers' settings may not be read, verifyDurability has told so.
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
