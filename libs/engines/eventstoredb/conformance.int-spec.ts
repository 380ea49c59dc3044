import { randomBytes } from 'node:crypto';
import { EventStoreDBClient } from '@eventstore/db-client';
import { describeEventStore } from '../conformance/event-store.suite.js';
import { type MakeHarness } from '../conformance/harness.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { LargeData, openEventStoreDb, type EventStoreDbEventStore } from './index.js';
import { memoryBlobs } from './testing/memory-blobs.js';

/** Of the server that `npm run test:engines` started or was given. */
const url = process.env.SLUICE_TEST_EVENTSTORE ?? '';

/** A harness under a separate prefix, next to the data of all the others. */
const harness =
  (batchAppend: boolean): MakeHarness<EventStore> =>
  async () => {
    const prefix = `t${randomBytes(8).toString('hex')}`;
    const warnings: string[] = [];
    const options = { url, prefix, batchAppend, onWarning: (text: string) => void warnings.push(text) };
    const blobs = memoryBlobs();
    let store: EventStoreDbEventStore = await openEventStoreDb(options);
    const made = {
      port: new LargeData(store, blobs),
      reopen: async () => {
        await store.close();
        store = await openEventStoreDb(options);
        made.port = new LargeData(store, blobs);
        return made.port;
      },
      flush: () => Promise.resolve(),
      close: async () => {
        await store.close();
        await removeStreams(`${prefix}.`);
        if (warnings[0]) throw new Error(warnings[0]);
      },
    };
    return made;
  };

const removeStreams = async (start: string): Promise<void> => {
  const client = EventStoreDBClient.connectionString(url);
  const names = new Set<string>();
  for await (const { event } of client.readAll()) {
    if (event?.streamId.startsWith(start)) names.add(event.streamId);
  }
  for (const name of names) await client.deleteStream(name);
  await client.dispose();
};

describeEventStore('eventstoredb', harness(false));
describeEventStore('eventstoredb (batch append)', harness(true));
