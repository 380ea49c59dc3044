import { componentsProjections } from '#libs/components/index.js';
import { type Engines } from './engines.js';
import { type Clock } from '#libs/kernel/clock.js';
import { commandHandler, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type Projection } from '#libs/kernel/projection.js';
import { Projectors } from '#libs/kernel/projectors.js';
import { type Reactor, ReactorRunner } from '#libs/kernel/reactor.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { sourcesProjections } from '#libs/sources/index.js';
import { subscriptionProjections } from '#libs/subscriptions/index.js';
import { tenancyProjections, UsageMeter } from '#libs/tenancy/index.js';
import { webhookProjections } from '#libs/webhooks/index.js';
import { makeViews, type Views } from './views.js';

export interface ControlPlane {
  readonly engines: Engines;
  readonly clock: Clock;
  readonly upcasters: Upcasters;
  readonly handleCommand: HandleCommand;
  readonly views: Views;
  readonly projectors: Projectors;
  readonly usage: UsageMeter;
}

/** Every read model over the event log; `sluice rebuild` makes the same ones anew. */
export const projections: readonly Projection[] = [
  ...tenancyProjections,
  ...componentsProjections,
  ...sourcesProjections,
  ...subscriptionProjections,
  ...webhookProjections,
];

/** No event has had a second version yet; contexts register theirs here. */
export const makeUpcasters = (): Upcasters => new Upcasters();

/** Command handling, read models and tables in memory, caught up with the log. */
export const startControlPlane = async (
  engines: Engines,
  clock: Clock,
  onFailure: (error: Error) => void,
): Promise<ControlPlane> => {
  const upcasters = makeUpcasters();
  const views = makeViews(clock);
  const projectors = new Projectors({
    events: engines.events,
    readModels: engines.readModels,
    upcasters,
    projections,
    views: views.all,
    onFailure,
  });
  await projectors.start();
  const handleCommand = commandHandler({ store: engines.events, upcasters });
  return { engines, clock, upcasters, handleCommand, views, projectors, usage: new UsageMeter(clock) };
};

export const startReactors = async (
  { engines, upcasters }: ControlPlane,
  reactors: readonly Reactor[],
  onFailure: (error: Error) => void,
): Promise<readonly ReactorRunner[]> => {
  const { events, readModels } = engines;
  const runners = reactors.map((reactor) => new ReactorRunner({ reactor, events, readModels, upcasters, onFailure }));
  await Promise.all(runners.map((runner) => runner.start()));
  return runners;
};
