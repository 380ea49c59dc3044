import { MemoryRetrySchedule } from '#libs/delivery/testing/memory-retry-schedule.js';
import { InMemoryEventStore } from '#libs/kernel/testing/in-memory-event-store.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { InMemoryUsage } from '#libs/tenancy/testing/in-memory-usage.js';
import { describeEventStore } from './event-store.suite.js';
import { type MakeHarness } from './harness.js';
import { describeReadModelStore } from './read-model-store.suite.js';
import { describeRetrySchedule, describeUsageStore } from './small-stores.suite.js';

/** The in-memory engine used by specs keeps the same contract. Its memory survives a restart. */
const harness =
  <P>(make: () => P): MakeHarness<P> =>
  async () => {
    const port = make();
    return { port, reopen: async () => port, flush: async () => undefined, close: async () => undefined };
  };

describeEventStore(
  'in memory',
  harness(() => new InMemoryEventStore()),
);
describeReadModelStore(
  'in memory',
  harness(() => new InMemoryReadModels()),
);
describeRetrySchedule(
  'in memory',
  harness(() => new MemoryRetrySchedule()),
);
describeUsageStore(
  'in memory',
  harness(() => new InMemoryUsage()),
);
