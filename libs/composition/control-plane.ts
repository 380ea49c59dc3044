import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { dataStoreAccess } from '#libs/data-stores/index.js';
import { type Clock } from '#libs/kernel/clock.js';
import { commandHandler, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { Projectors } from '#libs/kernel/projectors.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { ViewFollower } from '#libs/kernel/view-follower.js';
import { UsageMeter } from '#libs/tenancy/index.js';
import { type Engines } from './engines.js';
import { makeUpcasters, makeViews, projections, type Views } from './contexts.js';

/** The parts of the control plane that every process has. */
export interface ControlPlane {
  readonly engines: Engines;
  readonly clock: Clock;
  readonly upcasters: Upcasters;
  readonly handleCommand: HandleCommand;
  readonly views: Views;
  /** Feeds the views. */
  readonly follower: ViewFollower;
  readonly usage: UsageMeter;
}

/** A control plane whose process also maintains every read model. */
export interface WholeControlPlane extends ControlPlane {
  readonly projectors: Projectors;
}

/** Starts command handling, read models and in-memory tables with those of `own`, and catches up with the log. */
export const startControlPlane = async (
  engines: Engines,
  clock: Clock,
  onFailure: (error: Error) => void,
  onViewsFailure: (error: Error) => void,
  own: readonly LiveView[] = [],
): Promise<WholeControlPlane> => {
  const upcasters = makeUpcasters();
  const views = makeViews(clock, own);
  const { events, readModels } = engines;
  const followed = { upcasters, projections, views: views.all };
  const projectors = new Projectors({ events, readModels, ...followed, onFailure, onViewsFailure });
  await projectors.start();
  return { ...parts(engines, clock, upcasters), views, follower: projectors.views, projectors };
};

/**
 * Starts command handling and in-memory tables with those of `own`, and catches up with the log. Other processes maintain
 * the read models.
 */
export const followControlPlane = async (
  engines: Engines,
  clock: Clock,
  onFailure: (error: Error) => void,
  own: readonly LiveView[] = [],
): Promise<ControlPlane> => {
  const upcasters = makeUpcasters();
  const views = makeViews(clock, own);
  const follower = new ViewFollower({ events: engines.events, upcasters, views: views.all, onFailure });
  await follower.start();
  return { ...parts(engines, clock, upcasters), views, follower };
};

const parts = (engines: Engines, clock: Clock, upcasters: Upcasters) => ({
  engines,
  clock,
  upcasters,
  handleCommand: commandHandler({ store: engines.events, upcasters }),
  usage: new UsageMeter(clock, engines.usage),
});

/** Data stores as user code reaches them from a process of this plane. */
export const dataStoresOf = (
  { engines, views, clock }: Pick<ControlPlane, 'engines' | 'views' | 'clock'>,
  logger: { error(fields: object, text: string): void },
): DataStoreAccess =>
  dataStoreAccess({
    records: engines.records,
    view: views.dataStores,
    clock,
    onFailure: (error) => logger.error({ err: error }, 'data_stores.failed'),
  });
