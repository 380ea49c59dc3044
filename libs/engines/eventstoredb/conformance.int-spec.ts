import { randomBytes } from 'node:crypto';
import { afterAll, describe } from '@jest/globals';
import { EventStoreDBClient } from '@eventstore/db-client';
import { describeEventStore } from '#libs/engines/conformance/event-store.suite.js';
import { type MakeHarness } from '#libs/engines/conformance/harness.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { startEventStoreStandIn, type StandIn } from '#test/engines/eventstore-stand-in/stand-in.js';
import { LargeData, openEventStoreDb, type EventStoreDbEventStore } from './index.js';
import { memoryBlobs } from './testing/memory-blobs.js';

const realServer = process.env.SLUICE_TEST_EVENTSTORE;

interface Place {
  readonly url: () => Promise<string>;
  /** Whether streams must be removed. The stand-in's log is deleted with its folder. */
  readonly stays: boolean;
}

/** A harness under a separate prefix, next to the data of all the others. */
const harness =
  ({ url, stays }: Place, batchAppend: boolean): MakeHarness<EventStore> =>
  async () => {
    const prefix = `t${randomBytes(8).toString('hex')}`;
    const warnings: string[] = [];
    const options = { url: await url(), prefix, batchAppend, onWarning: (text: string) => void warnings.push(text) };
    const blobs = memoryBlobs();
    let store: EventStoreDbEventStore = await openEventStoreDb(options);
    const made = {
      port: new LargeData(store, blobs, () => true),
      reopen: async () => {
        await store.close();
        store = await openEventStoreDb(options);
        made.port = new LargeData(store, blobs, () => true);
        return made.port;
      },
      flush: () => Promise.resolve(),
      close: async () => {
        await store.close();
        if (stays) await removeStreams(options.url, `${prefix}.`);
        if (warnings[0]) throw new Error(warnings[0]);
      },
    };
    return made;
  };

const removeStreams = async (url: string, start: string): Promise<void> => {
  const client = EventStoreDBClient.connectionString(url);
  const names = new Set<string>();
  for await (const { event } of client.readAll()) {
    if (event?.streamId.startsWith(start)) names.add(event.streamId);
  }
  for (const name of names) await client.deleteStream(name);
  await client.dispose();
};

const standIn = (): Place => {
  let started: Promise<StandIn> | undefined;
  afterAll(async () => {
    await (await started)?.stop();
    started = undefined;
  });
  return { url: async () => (await (started ??= startEventStoreStandIn())).url, stays: false };
};

if (realServer !== undefined) {
  const place: Place = { url: () => Promise.resolve(realServer), stays: true };
  describeEventStore('eventstoredb (real server)', harness(place, false));
  describeEventStore('eventstoredb (real server, batch append)', harness(place, true));
}

describe('on a stand-in', () => {
  const place = standIn();
  describeEventStore('eventstoredb (stand-in)', harness(place, false));
  describeEventStore('eventstoredb (stand-in, batch append)', harness(place, true));
});
