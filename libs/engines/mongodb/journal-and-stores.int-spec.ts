import { describeRunJournal } from '#libs/engines/conformance/run-journal.suite.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { type MakeHarness } from '#libs/engines/conformance/harness.js';
import { type JournalAndLog } from '#libs/engines/conformance/run-journal.suite.js';
import { MongoRunJournal } from './run-journal.js';
import { openTestDatabase } from './testing/test-database.js';

const clock = { now: () => Date.now() };

const journalAndLog: MakeHarness<JournalAndLog> = async () => {
  const { db, drop } = await openTestDatabase();
  const log = new InMemoryStreamLog();
  const open = (): Promise<MongoRunJournal> =>
    MongoRunJournal.open(db, log, clock, (message) => {
      throw new Error(message);
    });
  let journal = await open();
  const made = {
    port: { journal, log },
    reopen: async () => {
      await journal.close();
      journal = await open();
      made.port = { journal, log };
      return made.port;
    },
    flush: () => journal.settled(),
    close: async () => {
      await journal.close();
      await drop();
    },
  };
  return made;
};

describeRunJournal('mongodb', journalAndLog);
