import { BACKWARDS, END, EventStoreDBClient, type StreamingRead } from '@eventstore/db-client';
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
        await within(ms, 'a read', newest.toArray());
      } catch (error) {
        throw new Error(`EventStoreDB at ${server} does not answer: ${messageOf(error)}`, { cause: error });
      } finally {
        release(newest, () => newest.cancel());
      }
    },
    close: async () => {
      // dispose() ends the calls and leaves the channel, whose sockets would stay. Neither may hold up the end of the
      // process: not a call that the client has lost sight of, not a cluster that no member of answers.
      await Promise.allSettled([within(CLOSE_MS, `ending the calls to ${server}`, client.dispose())]);
      if (hasChannel(client)) {
        const channel = client.getChannel().then((open) => open.close());
        await Promise.allSettled([within(CLOSE_MS, `closing the connection to ${server}`, channel)]);
      }
    },
  };
};

/** Of a readable stream: the client's are typed by another version of Node's types. */
interface Drainable {
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeAllListeners(event: 'readable'): unknown;
  resume(): unknown;
}

/** What a read gives. It may be left early, and is released then. */
export async function* itemsOf<T>(read: StreamingRead<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* read.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<T>;
  } finally {
    release(read, () => read.cancel());
  }
}

/**
 * Ends the server's side of a read, and takes what has already come: the client would keep a call whose answers are
 * never taken, and them, for as long as it lives.
 */
export const release = (read: Drainable, cancel: () => Promise<void>): void => {
  // Rejects only when the call was never made; the read itself has told that as its error.
  void Promise.allSettled([cancel()]);
  // Nobody waits for it any more; an error without a listener would end the process.
  read.on('error', () => undefined);
  read.removeAllListeners('readable');
  read.resume();
};

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const serverOf = (url: string): string => /^[^:]+:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url)?.[1] ?? 'an unnamed host';

const hasChannel = (client: object): client is { getChannel(): Promise<{ close(): void }> } =>
  'getChannel' in client && typeof client.getChannel === 'function';
