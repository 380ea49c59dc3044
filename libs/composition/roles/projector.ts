import { readModelsApplied } from '#libs/cluster/cluster.js';
import { LeasedReaders } from '#libs/cluster/leased-readers.js';
import { projections, reactorsOf } from '../contexts.js';
import { cleanUpPorts, reactorPorts } from '../reactions.js';
import { readModelsIn, streamReadModels } from '../read-models.js';
import { type Role } from '../role.js';
import { watchReaders } from '../stopped-readers.js';
import { keepRunHistory } from './run-history.js';

/** Every read model and every reaction of the contexts. */
export const leasedReaders = (
  role: Pick<Role, 'config' | 'plane' | 'topics' | 'logger' | 'platformEvents'>,
): LeasedReaders => {
  const { config, plane, logger } = role;
  const { engines, follower, upcasters } = plane;
  const ports = cleanUpPorts(role);
  const applied = readModelsApplied(readModelsIn(engines.readModels), follower, logger);
  return new LeasedReaders({
    ...engines,
    upcasters,
    logger,
    projections,
    reactors: reactorsOf(reactorPorts(role, applied)),
    streamReadModels: streamReadModels(config).map(({ projection, cleanUp }) => ({
      projection,
      cleanUp: (projector) => cleanUp(ports, projector),
    })),
  });
};

/** Role `projector`, step 6 of the path of an event: read models and reactions. */
export const startProjectorRole = async (role: Role): Promise<void> => {
  const { metrics, readiness, reporter, closing } = role;
  const readers = leasedReaders(role);
  readers.start();
  closing('read models', () => readers.close());
  const runs = await keepRunHistory(role);

  reporter.follows(() => readers.position());
  watchReaders({ metrics, readiness }, () => readers.status());
  metrics.sampled('sluice_readers_owned', 'Read models and reactions that this process keeps', () => readers.owned());
  metrics.sampled('sluice_projection_lanes', 'Lanes of event summaries and attempts that this process writes', () =>
    readers.lanes(),
  );
  metrics.sampled(
    'sluice_projections_backlog',
    'Records not yet in the read models',
    () => readers.backlog() + runs.backlog(),
  );
};
