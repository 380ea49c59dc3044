import { type ControlPlane } from '#libs/composition/control-plane.js';
import { roleProcess, type Started } from '#libs/composition/start.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';

/** A process with every role. */
export type OneProcess = ReturnType<typeof oneProcess>;

/** Services for the roles where no other process exists: leased work starts at once. */
export const oneProcess = (started: Started, plane: ControlPlane, topics: TopicPolicy) => {
  const { metrics, shutdown } = started;
  const backlogs = new Map<string, () => number>();
  /** Exports a backlog under its name in `sluice_backlog`. */
  const countBacklog = (name: string, backlog: () => number): void => void backlogs.set(name, backlog);
  metrics.sampled('sluice_backlog', 'Records not yet done, by role', () =>
    Object.fromEntries([...backlogs].map(([name, backlog]) => [name, backlog()])),
  );
  const own = roleProcess(started, plane, topics, {
    reportBacklog: ({ group, backlog }) => countBacklog(group.replaceAll('-', '_'), backlog),
    async leased({ name, start }) {
      const work = await start();
      shutdown.add(name, () => work.stop());
    },
  });
  return { ...own, countBacklog };
};
