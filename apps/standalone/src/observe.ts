import { type WholeControlPlane } from '#libs/composition/control-plane.js';
import { sampleInHand } from '#libs/composition/pressure.js';
import { watchReaders } from '#libs/composition/stopped-readers.js';
import { type CheckpointFigures, type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { type ReactorRunner } from '#libs/kernel/reactor.js';
import { type Metrics, type Readiness } from '#libs/telemetry/index.js';
import { type StreamReadModels } from './every-role.js';

export interface Observed {
  readonly plane: WholeControlPlane;
  readonly readModels: StreamReadModels['readModels'];
  readonly engines: Pick<EmbeddedEngines, 'stats' | 'damage'>;
  readonly reactors: readonly ReactorRunner[];
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly shuttingDown: () => boolean;
}

/** Registers metrics outside of the roles: of the process, the embedded engine, and all readers of the logs. */
export const observe = (observed: Observed): void => {
  const { plane, readModels, engines, reactors, metrics, readiness, shuttingDown } = observed;
  const readers = () => [
    ...plane.projectors.status(),
    ...reactors.map((reactor) => reactor.status()),
    ...Object.values(readModels).map((projector) => projector.status()),
  ];

  readiness.register('process', () => (shuttingDown() ? 'shutting down' : undefined));
  readiness.register('event log', async () => void (await plane.engines.events.lastPosition()));
  readiness.register('data directory', () => engines.damage());
  watchReaders({ metrics, readiness }, readers);

  metrics.sampled(
    'sluice_ops_per_commit',
    'Writes that share one commit, on average',
    () => engines.stats().opsPerCommit,
  );
  sampleInHand(metrics, () => engines.stats().inHand);
  metrics.sampled('sluice_write_queue_bytes', 'Bytes that wait for the disk', () => engines.stats().queuedBytes);
  const ofLogs = (figure: keyof CheckpointFigures) => () =>
    Object.fromEntries(Object.entries(engines.stats().checkpoints).map(([file, figures]) => [file, figures[figure]]));
  metrics.sampled('sluice_write_ahead_log_bytes', 'Size of a write-ahead log', ofLogs('logBytes'), 'file');
  metrics.sampled('sluice_checkpoints', 'Checkpoints of a write-ahead log', ofLogs('rounds'), 'file');
  metrics.sampled('sluice_checkpoint_seconds', 'Time that checkpoints took', ofLogs('seconds'), 'file');
};
