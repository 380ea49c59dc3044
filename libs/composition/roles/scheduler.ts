import { delayedIn } from '#libs/routing/delayed-alarm.js';
import { DuePump, type DuePumpOptions } from '#libs/due/due-pump.js';
import { type Scheduler, startScheduler } from '#libs/scheduling/scheduler.js';
import { timersOf } from '../timers.js';
import { type RoleProcess } from './role-process.js';

/** Role `scheduler`, step 1' of the path of an event: publishes ticks and what is due, in the process with the lease. */
export const startSchedulerRole = async (
  { plane, topics, logger, metrics, leased }: RoleProcess,
  { postpone }: Pick<DuePumpOptions, 'postpone'> = {},
): Promise<void> => {
  const { engines, views, clock } = plane;
  let scheduler: Scheduler | undefined;
  metrics.sampled('sluice_timers_armed', 'Timers; 0 in a process that stands by', () => scheduler?.size() ?? 0);
  await leased({
    name: 'due entries',
    start: async () => {
      const pump = new DuePump({
        log: engines.log,
        due: engines.due,
        topics,
        clock,
        postpone,
        onOwnerGone: (entries) => engines.delayed.remove(delayedIn(entries)),
        logger,
      });
      pump.start();
      return { stop: () => pump.close() };
    },
  });
  await leased({
    name: 'timers',
    start: async () => {
      const started = await startScheduler({
        sources: timersOf(views),
        ticks: engines.ticks,
        log: engines.log,
        topics,
        clock,
        logger,
      });
      scheduler = started;
      return {
        async stop() {
          scheduler = undefined;
          await started.close();
        },
      };
    },
  });
};
