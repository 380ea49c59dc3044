import { type Router, startRouter } from '#libs/routing/router.js';
import { type SubscriptionTable } from '#libs/routing/subscription-table.js';
import { EMITS } from '#libs/stream-log/topics.js';
import { pressureOf } from '#libs/cluster/told-pressure.js';
import { pressureSettings } from '#libs/ingress/pressure-settings.js';
import { type Room, type RoleProcess } from './role-process.js';
import { type Backlog } from '#libs/ingress/local-backlog.js';

export interface RouterRoleOptions {
  readonly backlog: Pick<Backlog, 'waitingFor'>;
  /** Fed by the reader of the event log of this process. */
  readonly table: SubscriptionTable;
  readonly room?: Pick<Room, 'isFull'>;
}

/** Role `router`, step 4 of the path of an event: turns emits into invocations and deliveries. */
export const startRouterRole = async (
  { config, plane, tables, topics, logger, metrics, handedOver, closing, reportBacklog }: RoleProcess,
  { backlog, table, room }: RouterRoleOptions,
): Promise<Router> => {
  const { engines, clock } = plane;
  const limits = pressureSettings(config);
  const router = await startRouter({
    log: engines.log,
    handedOver,
    topics,
    delayed: engines.delayed,
    due: engines.due,
    table,
    tables,
    clock,
    logger,
    listeners: {
      waitingFor: (sourceId) => backlog.waitingFor(sourceId),
      limit: limits.listener,
      loopLimit: limits.unrouted,
    },
    ...(room === undefined ? {} : { isFull: (topic: string) => room.isFull(topic) }),
  });
  closing('router', () => router.close());

  reportBacklog({
    group: 'router',
    prefix: EMITS,
    backlog: () => router.backlog(),
    pressure: () => pressureOf(handedOver, (id) => router.unroutedOf(id)),
  });
  metrics.sampled('sluice_router', 'What became of emits', () => ({ ...router.metrics, failures: router.failures() }));
  return router;
};
