import { type ControlPlane } from './control-plane.js';
import { type ArmedTimers, type TimerSources } from '#libs/scheduling/scheduler.js';
import { ticksSince } from '#libs/workflows/published.js';

/** The timers of sources, and those of workflows, whose triggers tick in the same way. */
export const timersOf = ({
  sources,
  workflows,
}: Pick<ControlPlane['views'], 'sources' | 'workflows'>): TimerSources => {
  const ofWorkflow = (workflowId: string): ArmedTimers | undefined => {
    const armed = workflows.armed(workflowId);
    if (!armed) return undefined;
    const { workspaceId, switchedAt } = armed;
    const timers = armed.timers.map((timer) => {
      const { id, name, cron, intervalSeconds, timezone, overlap } = timer;
      const trigger = { id, name, alone: overlap === 'skip', since: ticksSince(timer, switchedAt) };
      return { kind: 'timer', prop: id, cron, intervalSeconds, timezone, trigger } as const;
    });
    return { sourceId: workflowId, workspaceId, timers, since: switchedAt, first: false };
  };
  return {
    *ids() {
      yield* sources.all().keys();
      for (const { id } of workflows.all()) yield id;
    },
    armed: (id) => sources.armed(id) ?? ofWorkflow(id),
    onTimersChanged: (listener) => {
      const stops = [
        sources.onTimersChanged(listener),
        workflows.onChange((id) => {
          listener(ofWorkflow(id) ?? { sourceId: id, workspaceId: '', timers: [], since: 0, first: false });
        }),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
};
