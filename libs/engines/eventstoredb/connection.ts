import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import { within } from './within.js';

const CLOSE_MS = 1_000;

export interface Connection {
  readonly client: EventStoreDBClient;
  /** Hosts and ports of the connection string: no credentials, fit for logs. */
  readonly server: string;
  /** Rejects, naming the server, when it does not answer within `ms`. */
  ping(ms: number): Promise<void>;
  /** Ends all calls, and the connection with them unless another client of this process shares it. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly url: string;
  /** Appends of this client share one stream (BatchAppend) where the server has it. Off by default: docs/adr/0013. */
  readonly batchAppend: boolean;
}

/** Reaches for nothing yet: the first call connects. Throws for a malformed connection string. */
export const connect = ({ url, batchAppend }: ConnectOptions): Connection => {
  const client = EventStoreDBClient.connectionString(url);
  if (!batchAppend) {
    // What the client asks before it chooses the kind of append. Pinned by a test on the calls that the server sees.
    Object.defineProperty(client, 'supports', { value: () => Promise.resolve(false) });
  }
  const server = serverOf(url);
  return {
    client,
    server,
    ping: async (ms) => {
      const newest = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
      try {
        await within(ms, `EventStoreDB at ${server}`, newest.toArray());
      } catch (error) {
        throw new Error(`EventStoreDB at ${server} does not answer: ${messageOf(error)}`, { cause: error });
      } finally {
        release(newest);
      }
    },
    close: async () => {
      await client.dispose();
      // dispose() ends the calls and leaves the channel, whose sockets would stay. No channel to be had (a cluster
      // that no member of answers) is one less to close.
      if (hasChannel(client)) {
        const channel = client.getChannel().then((open) => open.close());
        await Promise.allSettled([within(CLOSE_MS, `closing the connection to ${server}`, channel)]);
      }
    },
  };
};

interface Cancellable {
  cancel(): Promise<void>;
}

/** Ends the server's side of a read, also one that was left early. */
export const release = (read: Cancellable): void => {
  // Rejects only when the call was never made; the read itself has told that as its error.
  void Promise.allSettled([read.cancel()]);
};

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const serverOf = (url: string): string => /^[^:]+:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url)?.[1] ?? 'an unnamed host';

const hasChannel = (client: object): client is { getChannel(): Promise<{ close(): void }> } =>
  'getChannel' in client && typeof client.getChannel === 'function';
