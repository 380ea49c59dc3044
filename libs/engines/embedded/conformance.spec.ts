import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeDelayedEvents } from '../conformance/delayed-events.suite.js';
import { describeDataStoreRecords, SMALL_STORES } from '../conformance/data-store-records.suite.js';
import { describeEventStore } from '../conformance/event-store.suite.js';
import { type MakeHarness } from '../conformance/harness.js';
import { describeLeases } from '../conformance/leases.suite.js';
import { describeProcessRegistry } from '../conformance/process-registry.suite.js';
import { describeReadModelStore } from '../conformance/read-model-store.suite.js';
import { describeRunHistory } from '../conformance/run-history.suite.js';
import { describeRunJournal } from '../conformance/run-journal.suite.js';
import { describeDueStore } from '../conformance/due-store.suite.js';
import {
  describeBlobStore,
  describeTickStore,
  describeUsageStore,
  describeVault,
} from '../conformance/small-stores.suite.js';
import { describeStreamLog } from '../conformance/stream-log.suite.js';
import { openEmbedded, type EmbeddedEngines } from './index.js';
import { EmbeddedLeases } from './stores/leases.js';
import { EmbeddedProcessRegistry } from './stores/process-registry.js';

/** A harness on a separate data directory. `time` is added to the real time of the adapter's clock. */
const harness =
  <P>(port: (engines: EmbeddedEngines, time: { ahead: number }) => P): MakeHarness<P> =>
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-conformance-'));
    const time = { ahead: 0 };
    const fatal: Error[] = [];
    const open = (): Promise<EmbeddedEngines> =>
      openEmbedded({
        dataDir,
        secretKey: Buffer.alloc(32, 7),
        clock: { now: () => Date.now() + time.ahead },
        onFatal: (error) => fatal.push(error),
        dataStoreLimits: SMALL_STORES,
      });
    let engines = await open();
    const made = {
      port: port(engines, time),
      reopen: async () => {
        await engines.close();
        engines = await open();
        made.port = port(engines, time);
        return made.port;
      },
      flush: () => Promise.resolve(),
      close: async () => {
        await engines.close();
        rmSync(dataDir, { recursive: true });
        if (fatal[0]) throw fatal[0];
      },
    };
    return made;
  };

describeEventStore(
  'embedded',
  harness((engines) => engines.events),
);
describeReadModelStore(
  'embedded',
  harness((engines) => engines.readModels),
);
describeRunJournal(
  'embedded',
  harness(({ journal, log }) => ({ journal, log })),
);
describeRunHistory(
  'embedded',
  harness((engines) => engines.runHistory),
);
describeStreamLog(
  'embedded',
  harness((engines, time) => ({
    log: engines.log,
    isOfOneProcess: true,
    sweepAfter: async (ms) => {
      time.ahead += ms;
      await engines.sweep();
    },
  })),
);
describeVault(
  'embedded',
  harness((engines) => engines.vault),
);
describeBlobStore(
  'embedded',
  harness((engines) => engines.blobs),
);
describeDueStore(
  'embedded',
  harness((engines) => engines.due),
);
describeDelayedEvents(
  'embedded',
  harness((engines) => engines.delayed),
);
describeTickStore(
  'embedded',
  harness((engines) => engines.ticks),
);
describeUsageStore(
  'embedded',
  harness((engines) => engines.usage),
);
describeDataStoreRecords(
  'embedded',
  harness((engines) => engines.records),
);
describeLeases('embedded', async () => {
  const time = { ahead: 0 };
  const open = (): EmbeddedLeases => new EmbeddedLeases({ now: () => Date.now() + time.ahead });
  let leases = open();
  const port = {
    process: () => ({
      leases,
      // All other roles share this process.
      crash: () => {
        time.ahead += 1;
        leases = open();
      },
    }),
    elapse: () => new Promise<void>((resolve) => setImmediate(resolve)),
  };
  return { port, reopen: async () => port, flush: async () => undefined, close: async () => undefined };
});
describeProcessRegistry('embedded', async () => {
  let now = 0;
  const registry = new EmbeddedProcessRegistry(() => now);
  const port = { process: () => registry, elapse: (ms: number) => (now += ms) };
  return { port, reopen: async () => port, flush: async () => undefined, close: async () => undefined };
});
