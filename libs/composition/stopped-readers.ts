import { type ProjectorStatus } from '#libs/kernel/projection.js';
import { type Metrics, type Readiness } from '#libs/telemetry/index.js';

/** Makes /readyz and a metric name the read models and reactions of this process that have stopped. */
export const watchReaders = (
  { metrics, readiness }: { readonly metrics: Metrics; readonly readiness: Readiness },
  status: () => readonly ProjectorStatus[],
): void => {
  const stopped = () => status().filter(({ failure }) => failure !== undefined);
  readiness.register('projections', () => stopped()[0]?.failure);
  metrics.sampled('sluice_readers_stopped', 'Read models and reactions that have stopped', () =>
    Object.fromEntries(stopped().map(({ name }) => [name, 1])),
  );
};
