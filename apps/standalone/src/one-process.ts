import { startPlatformEvents } from '#libs/composition/platform-events.js';
import { type PlatformEvents } from '#libs/platform-events/platform-events.js';
import { pressureSettings } from '#libs/ingress/pressure-settings.js';
import { type RoleProcess } from '#libs/composition/roles/role-process.js';
import { TableFreshness } from '#libs/kernel/table-freshness.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';

/** A process with every role. */
export interface OneProcess extends RoleProcess {
  readonly platformEvents: PlatformEvents;
  /** Exports a backlog under its name in `sluice_backlog`. */
  readonly countBacklog: (name: string, backlog: () => number) => void;
}

/** Gives the roles what they need where no other process exists: leased work starts at once. */
export const oneProcess = (
  given: Pick<RoleProcess, 'config' | 'plane' | 'topics' | 'logger' | 'metrics' | 'closing'>,
): OneProcess => {
  const { config, plane, topics, logger, metrics, closing } = given;
  const backlogs = new Map<string, () => number>();
  const countBacklog = (name: string, backlog: () => number): void => void backlogs.set(name, backlog);
  metrics.sampled('sluice_backlog', 'Records not yet done, by role', () =>
    Object.fromEntries([...backlogs].map(([name, backlog]) => [name, backlog()])),
  );
  return {
    ...given,
    tables: new TableFreshness({
      follower: plane.follower,
      lastPosition: () => plane.engines.events.lastPosition(),
      onDelayed: (error) => logger.warn({ err: error }, 'tables.delayed: events may wait for the event log'),
    }),
    platformEvents: startPlatformEvents(plane, topics, logger, { add: closing }),
    handedOver: new HandedOver(pressureSettings(config).source),
    countBacklog,
    reportBacklog: ({ group, backlog }) => countBacklog(group.replaceAll('-', '_'), backlog),
    async leased({ name, start }) {
      const work = await start();
      closing(name, () => work.stop());
    },
  };
};
