import { openKafka } from '#libs/engines/kafka/index.js';
import { Deployment, type EngineAddresses } from '#test/harness/deployment.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { type QueuedTarget } from './queued-repeats.js';

/** Brokers forget a killed member of a group after 6 s. Until then they refuse commits of others. */
const REWIND_TIMEOUT_MS = 30_000;

/** Roles, of which the router and the runner die. The router begins again because its commits are reverted. */
export const queuedRoles = (engines: EngineAddresses): QueuedTarget => {
  const deployment = new Deployment({ engines });
  const victims = (): readonly Server[] => [...deployment.processes.router, ...deployment.processes.runner];
  return {
    server: deployment,
    killAndRepeat: async (emitterIds) => {
      await Promise.all(victims().map((server) => server.kill9()));
      const log = await openKafka({
        brokers: engines.kafka.split(','),
        prefix: `${deployment.common['SLUICE_PREFIX'] ?? ''}.`,
        clientId: 'rewind',
        replicationFactor: 1,
        onWarning: () => undefined,
      });
      try {
        const begun = Object.fromEntries(emitterIds.map((id) => [`emits.${id}`, -1]));
        await eventually(
          'the router’s commits are taken back',
          () =>
            log.setCommitted('router', begun).then(
              () => true,
              () => undefined,
            ),
          REWIND_TIMEOUT_MS,
          500,
        );
      } finally {
        await log.close();
      }
      await Promise.all(victims().map((server) => server.start()));
    },
  };
};
