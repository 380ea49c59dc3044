import { type Db } from 'mongodb';
import { describeDataStoreRecords, SMALL_STORES } from '../conformance/data-store-records.suite.js';
import { type MakeHarness } from '../conformance/harness.js';
import { describeLeases, type LeasesUnderTest } from '../conformance/leases.suite.js';
import { describeProcessRegistry, type RegistryUnderTest } from '../conformance/process-registry.suite.js';
import { describeLaneWrites } from '../conformance/lane-writes.suite.js';
import { describeReadModelStore } from '../conformance/read-model-store.suite.js';
import { systemClock } from '#libs/kernel/clock.js';
import { describeRunHistory } from '../conformance/run-history.suite.js';
import { MongoRunHistory } from './stores/run-history.js';
import { MongoDataStoreRecords } from './stores/data-store-records.js';
import { MongoLeases } from './stores/leases.js';
import { MongoProcessRegistry } from './stores/process-registry.js';
import { MongoReadModelStore } from './read-models/read-model-store.js';
import { openTestDatabase } from './testing/test-database.js';
import { VirtualTime } from './testing/virtual-time.js';

/** A harness on a separate database. A reopened store shares no memory with the previous one. */
const harness =
  <P>(open: (db: Db, fail: (text: string) => void) => P): MakeHarness<P> =>
  async () => {
    const { db, drop } = await openTestDatabase();
    const warnings: string[] = [];
    const port = (): P => open(db, (text) => warnings.push(text));
    const made = {
      port: port(),
      reopen: async () => (made.port = port()),
      flush: () => Promise.resolve(),
      close: async () => {
        await drop();
        if (warnings[0] !== undefined) throw new Error(warnings[0]);
      },
    };
    return made;
  };

describeReadModelStore(
  'mongodb',
  harness((db, onWarning) => new MongoReadModelStore(db, { clock: systemClock, onWarning })),
);

describeLaneWrites(
  'mongodb',
  harness((db, onWarning) => {
    const lanes = new MongoReadModelStore(db, { clock: systemClock, onWarning });
    return { lanes, readModels: lanes };
  }),
);

describeDataStoreRecords(
  'mongodb',
  harness((db) => new MongoDataStoreRecords(db, SMALL_STORES)),
);

describeRunHistory('mongodb', async () => {
  const { db, drop } = await openTestDatabase();
  const open = (): MongoRunHistory => new MongoRunHistory(db);
  await open().ensureIndexes();
  const made = {
    port: open(),
    reopen: async () => (made.port = open()),
    flush: () => Promise.resolve(),
    close: drop,
  };
  return made;
});

const TTL_MS = 5_000;

describeLeases(
  'mongodb',
  harness((db, onWarning): LeasesUnderTest => {
    const time = new VirtualTime();
    return {
      process: () => {
        const own = time.process();
        return {
          leases: new MongoLeases(time.db(db), { ttlMs: TTL_MS, onWarning, time: own }),
          crash: () => own.stop(),
        };
      },
      elapse: () => time.pass(3 * TTL_MS),
    };
  }),
);

describeProcessRegistry(
  'mongodb',
  harness((db): RegistryUnderTest => {
    let now = 0;
    return { process: () => new MongoProcessRegistry(db, () => now), elapse: (ms) => (now += ms) };
  }),
);
