import { runRole } from '#libs/composition/role.js';
import { startTimers } from '#libs/composition/data-plane.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { type Scheduler } from '#libs/scheduling/scheduler.js';

/** Role `scheduler`: one process publishes the ticks, the others stand by. `runRole` does steps 1 to 4. */
runRole('scheduler', openDistributed, async ({ config, plane, topics, logger, metrics, leased }) => {
  // 5. Timers, in the process that holds the lease.
  let scheduler: Scheduler | undefined;
  leased({
    name: 'timers',
    start: async () => {
      const started = await startTimers(plane, topics, config, logger);
      scheduler = started;
      return {
        async stop() {
          scheduler = undefined;
          await started.close();
        },
      };
    },
  });

  // 6. Metrics.
  metrics.sampled('sluice_timers_armed', 'Timers; 0 in a process that stands by', () => scheduler?.size() ?? 0);
});
