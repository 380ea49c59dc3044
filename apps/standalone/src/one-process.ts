import { type ControlPlane } from '#libs/composition/control-plane.js';
import { sampleLag } from '#libs/composition/pressure.js';
import { roleProcess, type Started } from '#libs/composition/start.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';

/** A process with every role. */
export type OneProcess = ReturnType<typeof oneProcess>;

/** Services for the roles where no other process exists: leased work starts at once. */
export const oneProcess = (started: Started, plane: ControlPlane, topics: TopicPolicy) => {
  const { metrics, shutdown } = started;
  const backlogs = new Map<string, () => number>();
  /** Exports a backlog under its group in `sluice_lag`. */
  const countBacklog = (group: string, backlog: () => number): void => void backlogs.set(group, backlog);
  sampleLag(metrics, () => Object.fromEntries([...backlogs].map(([group, backlog]) => [group, backlog()])));
  const own = roleProcess(started, plane, topics, {
    reportBacklog: ({ group, backlog }) => countBacklog(group, backlog),
    reportLag: ({ group, backlog }) => countBacklog(group, backlog),
    async leased({ name, start }) {
      const work = await start();
      shutdown.add(name, () => work.stop());
    },
  });
  return { ...own, countBacklog };
};
