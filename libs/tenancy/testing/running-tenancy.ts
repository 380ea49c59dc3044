import { commandHandler } from '#libs/kernel/handle-command.js';
import { Projectors } from '#libs/kernel/projectors.js';
import { InMemoryEventStore } from '#libs/kernel/testing/in-memory-event-store.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { CallersView } from '../callers-view.js';
import { tenancyContext } from '../index.js';

/** A process with this context only, over in-memory stores. A second one over the same store is a restart. */
export const runningTenancy = async (store = new InMemoryEventStore({ now: () => 1_700_000_000_000 })) => {
  const upcasters = new Upcasters();
  const handleCommand = commandHandler({ store, upcasters });
  const callers = new CallersView();
  const readModels = new InMemoryReadModels();
  const failures: Error[] = [];
  const projectors = new Projectors({
    events: store,
    readModels,
    upcasters,
    projections: tenancyContext.projections,
    views: [callers],
    onFailure: (error) => failures.push(error),
    onViewsFailure: (error) => failures.push(error),
  });
  await projectors.start();
  const clock = { now: () => 1_700_000_000_000 };
  const deps = { handleCommand, clock, callers };
  const caughtUp = async (): Promise<void> => {
    if (!(await projectors.waitFor(await store.lastPosition(), 5000))) throw new Error('not caught up');
  };
  return { store, upcasters, handleCommand, callers, readModels, projectors, clock, deps, failures, caughtUp };
};

export type RunningTenancy = Awaited<ReturnType<typeof runningTenancy>>;
