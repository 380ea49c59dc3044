import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Db } from 'mongodb';
import { describeDelayedEvents } from '../conformance/delayed-events.suite.js';
import { type MakeHarness } from '../conformance/harness.js';
import { type JournalAndLog } from '../conformance/run-journal-commits.js';
import { describeRunJournal } from '../conformance/run-journal.suite.js';
import { describeDueStore } from '../conformance/due-store.suite.js';
import {
  describeBlobStore,
  describeTickStore,
  describeUsageStore,
  describeVault,
} from '../conformance/small-stores.suite.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { MongoBlobStore } from './stores/blob-store.js';
import { MongoDelayedEvents } from './stores/delayed-events.js';
import { MongoDueStore } from './stores/due-store.js';
import { MongoRunJournal } from './runs/run-journal.js';
import { openTestDatabase } from './testing/test-database.js';
import { MongoTickStore } from './stores/tick-store.js';
import { MongoUsageStore } from './stores/usage-store.js';
import { MongoVault } from './stores/vault.js';

const clock = { now: () => Date.now() };

const journalAndLog: MakeHarness<JournalAndLog> = async () => {
  const { db, drop } = await openTestDatabase();
  const log = new InMemoryStreamLog();
  const warnings: string[] = [];
  const open = (): Promise<MongoRunJournal> =>
    MongoRunJournal.open(db, log, clock, { onWarning: (message) => void warnings.push(message) });
  let journal = await open();
  const made = {
    port: { journal, log },
    reopen: async () => {
      await journal.close();
      journal = await open();
      made.port = { journal, log };
      return made.port;
    },
    flush: () => journal.drained(),
    close: async () => {
      await journal.close();
      await drop();
      if (warnings[0]) throw new Error(warnings[0]);
    },
  };
  return made;
};

/** A store without memory of its own, so a new instance equals a restarted one. */
const store =
  <P>(make: (db: Db, folder: string) => Promise<P>): MakeHarness<P> =>
  async () => {
    const { db, drop } = await openTestDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-mongodb-'));
    const made = {
      port: await make(db, folder),
      reopen: async () => (made.port = await make(db, folder)),
      flush: () => Promise.resolve(),
      close: async () => {
        rmSync(folder, { recursive: true });
        await drop();
      },
    };
    return made;
  };

describeRunJournal('mongodb', journalAndLog);
describeVault(
  'mongodb',
  store(async (db) => new MongoVault(db, Buffer.alloc(32, 7))),
);
describeBlobStore(
  'mongodb',
  store(async (db, folder) => {
    const blobs = new MongoBlobStore(db, folder);
    await blobs.ensureIndexes();
    return blobs;
  }),
);
describeDueStore(
  'mongodb',
  store(async (db) => {
    const due = new MongoDueStore(db);
    await due.ensureIndexes();
    return due;
  }),
);
describeDelayedEvents(
  'mongodb',
  store(async (db) => {
    const delayed = new MongoDelayedEvents(db);
    await delayed.ensureIndexes();
    return delayed;
  }),
);
describeTickStore(
  'mongodb',
  store(async (db) => new MongoTickStore(db)),
);
describeUsageStore(
  'mongodb',
  store(async (db) => {
    const usage = new MongoUsageStore(db);
    await usage.ensureIndexes();
    return usage;
  }),
);
