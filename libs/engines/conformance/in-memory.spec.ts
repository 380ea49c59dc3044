import { InMemoryBlobs } from '#libs/components/testing/fakes.js';
import { InMemoryRecords } from '#libs/data-stores/in-memory-records.js';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';
import { InMemoryVault } from '#libs/kernel/testing/control-plane.js';
import { InMemoryEventStore } from '#libs/kernel/testing/in-memory-event-store.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { InMemoryJournal } from '#libs/runner/testing/in-memory-journal.js';
import { InMemoryTicks } from '#libs/scheduling/testing/in-memory-ticks.js';
import { lanesOfOneProcess } from '#libs/stream-log/lane-writes.js';
import { ClaimedLanes } from '#libs/stream-log/testing/claimed-lanes.js';
import { InMemoryDelayedEvents } from '#libs/stream-log/testing/in-memory-delayed-events.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { InMemoryUsage } from '#libs/tenancy/testing/in-memory-usage.js';
import { describeDelayedEvents } from './delayed-events.suite.js';
import { describeDataStoreRecords, SMALL_STORES } from './data-store-records.suite.js';
import { describeEventStore } from './event-store.suite.js';
import { type MakeHarness } from './harness.js';
import { describeLaneWrites, describeLaneWritesDouble } from './lane-writes.suite.js';
import { describeReadModelStore } from './read-model-store.suite.js';
import { describeRunJournal } from './run-journal.suite.js';
import { describeDueStore } from './due-store.suite.js';
import { describeBlobStoreDouble, describeTickStore, describeUsageStore, describeVault } from './small-stores.suite.js';
import { describeStreamLogDouble } from './stream-log.suite.js';

/** Checks that the in-memory doubles of specs fulfil the contract of the engines. Their memory survives a restart. */
const harness =
  <P>(make: () => P, crash: (port: P) => void = () => undefined): MakeHarness<P> =>
  async () => {
    const port = make();
    const reopen = async (): Promise<P> => {
      crash(port);
      return port;
    };
    return { port, reopen, flush: async () => undefined, close: async () => undefined };
  };

describeEventStore(
  'in memory',
  harness(() => new InMemoryEventStore()),
);
describeReadModelStore(
  'in memory',
  harness(() => new InMemoryReadModels()),
);
describeLaneWrites(
  'in memory',
  harness(() => {
    const readModels = new InMemoryReadModels();
    return { readModels, lanes: new ClaimedLanes(readModels) };
  }),
);
describeLaneWritesDouble(
  'of one process',
  harness(() => {
    const readModels = new InMemoryReadModels();
    return { readModels, lanes: lanesOfOneProcess(readModels) };
  }),
  { claims: 'nobody else can claim its lanes' },
);
describeStreamLogDouble(
  'in memory',
  harness(
    () => ({ log: new InMemoryStreamLog(), sweepAfter: async () => undefined }),
    ({ log }) => log.crash(),
  ),
  { retention: 'it keeps every record, because specs look at records already consumed' },
);
describeRunJournal(
  'in memory',
  harness(
    () => {
      const log = new InMemoryStreamLog();
      return { log, journal: new InMemoryJournal(log) };
    },
    ({ log }) => log.crash(),
  ),
);
describeDueStore(
  'in memory',
  harness(() => new InMemoryDueStore()),
);
describeDelayedEvents(
  'in memory',
  harness(() => new InMemoryDelayedEvents()),
);
describeDataStoreRecords(
  'in memory',
  harness(() => new InMemoryRecords(SMALL_STORES)),
);
describeUsageStore(
  'in memory',
  harness(() => new InMemoryUsage()),
);
describeTickStore(
  'in memory',
  harness(() => new InMemoryTicks()),
);
describeVault(
  'in memory',
  harness(() => new InMemoryVault()),
);
describeBlobStoreDouble(
  'in memory',
  harness(() => new InMemoryBlobs()),
  { files: 'it has no files' },
);
