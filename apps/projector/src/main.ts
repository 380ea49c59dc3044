import { LeasedReaders } from '#libs/composition/leased-readers.js';
import { runRole } from '#libs/composition/role.js';
import { openDistributed } from '#libs/engines/distributed/index.js';

/** Role `projector`: step 7 of the path of an event. Processes share the read models. `runRole` does steps 1 to 4. */
runRole(
  'projector',
  openDistributed,
  async ({ config, plane, topics, logger, metrics, readiness, reporter, closing }) => {
    // 5. Read models and reactions, each owned by one process.
    const readers = new LeasedReaders({ config, plane, topics, logger });
    readers.start();
    closing('read models', () => readers.close());

    // 6. Reports and metrics.
    reporter.follows(() => readers.position());
    readiness.register('projections', () => readers.status().find(({ failure }) => failure !== undefined)?.failure);
    metrics.sampled('sluice_readers_owned', 'Read models and reactions that this process keeps', () => readers.owned());
    metrics.sampled('sluice_projections_backlog', 'Records not yet in the read models', () => readers.backlog());
  },
);
