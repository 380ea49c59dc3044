import { randomBytes, randomUUID } from 'node:crypto';
import { EventStoreDBClient, type EventData } from '@eventstore/db-client';
import { type EventBatch, type EventStore } from '#libs/kernel/event-store.js';
import { START, type NewEvent } from '#libs/kernel/events.js';
import { type EventStoreServer } from '#test/engines/eventstore-server.js';
import { EngineRelay } from '#test/faults/engine-relays.js';
import {
  openEventStoreDb,
  type EventStoreDbEventStore,
  type EventStoreDbOptions,
} from '#libs/engines/eventstoredb/index.js';

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

/** Appends `count` events to a stream one by one, from revision `from`. */
export const fill = async (store: EventStore, stream: string, count: number, from = 0): Promise<void> => {
  for (let n = from; n < from + count; n++) {
    await store.append(stream, [event(n)], n === 0 ? 'no_stream' : BigInt(n - 1));
  }
};

interface Warning {
  readonly text: string;
  readonly fields: object;
}

interface Follower {
  readonly seen: number[];
  readonly batches: EventBatch[];
  readonly done: Promise<void>;
}

/** A separate connection to a shared server, the stores that a test opens on it, and their prefix. */
export class ServerWorld {
  readonly prefix = `t${randomBytes(8).toString('hex')}`;
  readonly warnings: Warning[] = [];
  readonly stop = new AbortController();
  private readonly stores: EventStoreDbEventStore[] = [];

  private constructor(readonly relay: EngineRelay) {}

  static async start(server: EventStoreServer): Promise<ServerWorld> {
    return new ServerWorld(await EngineRelay.start(server.port));
  }

  /** Address of the server for the stores. */
  get address(): string {
    return `127.0.0.1:${this.relay.port}`;
  }

  get url(): string {
    return `esdb://${this.address}?tls=false`;
  }

  async open(options: Partial<EventStoreDbOptions> = {}): Promise<EventStoreDbEventStore> {
    const onWarning = (text: string, fields: object): void => void this.warnings.push({ text, fields });
    const store = await openEventStoreDb({ url: this.url, prefix: this.prefix, onWarning, ...options });
    this.stores.push(store);
    return store;
  }

  /** Drops every connection. New ones are accepted at once. */
  async cut(): Promise<void> {
    await this.relay.cut('refused');
    await this.relay.restore();
  }

  /** Another program appends. */
  async foreign(stream: string, written: EventData, expectedRevision: bigint | 'no_stream' = 'no_stream') {
    const client = EventStoreDBClient.connectionString(this.url);
    await client.appendToStream(stream, written, { expectedRevision });
    await client.dispose();
  }

  /** Reads until the world is closed, or `stop` is aborted. */
  follow(store: EventStore): Follower {
    const seen: number[] = [];
    const batches: EventBatch[] = [];
    const done = (async () => {
      for await (const batch of store.subscribe(START, this.stop.signal)) {
        batches.push(batch);
        seen.push(...batch.events.map(({ data }) => (data as { n: number }).n));
      }
    })();
    return { seen, batches, done };
  }

  async close(): Promise<void> {
    this.stop.abort();
    for (const store of this.stores) await store.close();
    await this.relay.close();
  }
}
