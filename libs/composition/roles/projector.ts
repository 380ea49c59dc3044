import { LeasedReaders } from '../leased-readers.js';
import { type Role } from '../role.js';

/** Role `projector`, step 6 of the path of an event: read models and reactions. */
export const startProjectorRole = ({
  config,
  plane,
  topics,
  logger,
  metrics,
  readiness,
  reporter,
  platformEvents,
  closing,
}: Role): void => {
  const readers = new LeasedReaders({ config, plane, topics, logger, platformEvents });
  readers.start();
  closing('read models', () => readers.close());

  reporter.follows(() => readers.position());
  readiness.register('projections', () => readers.status().find(({ failure }) => failure !== undefined)?.failure);
  metrics.sampled('sluice_readers_owned', 'Read models and reactions that this process keeps', () => readers.owned());
  metrics.sampled('sluice_projection_lanes', 'Lanes of event summaries and attempts that this process writes', () =>
    readers.lanes(),
  );
  metrics.sampled('sluice_projections_backlog', 'Records not yet in the read models', () => readers.backlog());
};
