import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, type EventData } from '@eventstore/db-client';
import { type EventStore } from '#libs/kernel/event-store.js';
import { START, type NewEvent } from '#libs/kernel/events.js';
import {
  startEventStoreStandIn,
  type StandIn,
  type StandInOptions,
} from '#test/engines/eventstore-stand-in/stand-in.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { openEventStoreDb, type EventStoreDbEventStore, type EventStoreDbOptions } from '../index.js';

export const event = (n: number, text = ''): NewEvent => ({
  id: randomUUID(),
  type: 'Counted',
  data: { n, text },
  metadata: {
    $correlationId: 'c1',
    $causationId: 'c0',
    commandId: `command-${n}`,
    workspaceId: 'o_1',
    schemaVersion: 1,
    actor: { userId: 'u_1', apiKeyId: null },
  },
});

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** A stand-in for EventStoreDB with the stores that a test opens on it. */
export class StandInWorld {
  private readonly stores: EventStoreDbEventStore[] = [];
  private readonly stop = new AbortController();

  private constructor(
    private readonly dir: string,
    public server: StandIn,
  ) {}

  static async start(): Promise<StandInWorld> {
    const dir = tempDir('eventstoredb');
    return new StandInWorld(dir, await startEventStoreStandIn({ dir }));
  }

  async restart(options: StandInOptions): Promise<void> {
    const { port } = this.server;
    await this.server.stop();
    this.server = await startEventStoreStandIn({ dir: this.dir, port, ...options });
  }

  async open(options: Partial<EventStoreDbOptions> = {}): Promise<EventStoreDbEventStore> {
    const store = await openEventStoreDb({ url: this.server.url, prefix: 't', onWarning: () => undefined, ...options });
    this.stores.push(store);
    return store;
  }

  /** Another program appends to a new stream. */
  async foreign(stream: string, written: EventData): Promise<void> {
    const client = EventStoreDBClient.connectionString(this.server.url);
    await client.appendToStream(stream, written, { expectedRevision: 'no_stream' });
    await client.dispose();
  }

  /** Reads until the world is closed. */
  follow(store: EventStore): { seen: number[]; hasCaughtUp: () => boolean; done: Promise<void> } {
    const seen: number[] = [];
    let caughtUp = false;
    const done = (async () => {
      for await (const batch of store.subscribe(START, this.stop.signal)) {
        caughtUp = batch.caughtUp;
        seen.push(...batch.events.map(({ data }) => (data as { n: number }).n));
      }
    })();
    return { seen, hasCaughtUp: () => caughtUp, done };
  }

  async close(): Promise<void> {
    this.stop.abort();
    for (const store of this.stores) await store.close();
    await this.server.stop();
    removeDir(this.dir);
  }
}
