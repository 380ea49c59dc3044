import { AccessDeniedError, BACKWARDS, END, EventStoreDBClient, type StreamingRead } from '@eventstore/db-client';
import { endsWithin, withDeadline } from '#libs/async/deadline.js';
import { RefusedStart } from '#libs/config/refused-start.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { START, type Position } from '#libs/kernel/events.js';
import { textOf } from './positions.js';

const CLOSE_MS = 1_000;
const NEWEST_MS = 10_000;
const DENIES =
  'denies reading $all: the user or password of SLUICE_EVENTSTORE_URL is wrong, or the user lacks the right';

export interface Connection {
  readonly client: EventStoreDBClient;
  /** Hosts and ports of the connection string, without credentials, so fit for logs. */
  readonly server: string;
  /** Rejects, naming the server, when it does not answer within `ms`; with RefusedStart when it denies access. */
  ping(ms: number): Promise<void>;
  /** Ends all calls. Also ends the connection unless another client of this process shares it. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly url: string;
  /** Appends of this client share one stream (BatchAppend) if the server supports it. Off by default: docs/adr/0013. */
  readonly batchAppend: boolean;
  /** Called with the warnings of the client. Default: they are dropped. */
  readonly onWarning?: (text: string, fields: object) => void;
}

/**
 * The client prints its warnings with the connection string and so the password. It does so within this call, which
 * therefore intercepts the console and keeps only the line without the string.
 */
const clientOf = (url: string): { readonly client: EventStoreDBClient; readonly warnings: readonly string[] } => {
  const warnings: string[] = [];
  const { warn } = console;
  console.warn = (text: unknown): void => void warnings.push(String(text).split('\n', 1)[0] ?? '');
  try {
    return { client: EventStoreDBClient.connectionString(url), warnings };
  } catch (error) {
    throw new RefusedStart(`SLUICE_EVENTSTORE_URL is refused by the client of EventStoreDB: ${refusalOf(error, url)}`);
  } finally {
    console.warn = warn;
  }
};

/** The client quotes the place that it cannot read, which may hold a part of the password. */
const refusalOf = (error: unknown, url: string): string => {
  const { location, expected } = error as { readonly location?: unknown; readonly expected?: unknown };
  if (!Array.isArray(location) || typeof expected !== 'string') return messageOf(error);
  const [from, to] = location as [number, number];
  const isSecret = from < url.lastIndexOf('@');
  const found = isSecret || to <= from ? '' : ` instead of "${url.slice(from, to)}"`;
  return `it expects ${expected} at character ${from + 1}${found}`;
};

/**
 * Prepares a client; the first call connects. Throws RefusedStart, with the client's own reason but without
 * credentials, for an invalid connection string and for a certificate that cannot be read.
 */
export const connect = ({ url, batchAppend, onWarning }: ConnectOptions): Connection => {
  const { client, warnings } = clientOf(url);
  for (const warning of warnings) onWarning?.(`SLUICE_EVENTSTORE_URL: ${warning}`, {});
  if (!batchAppend) {
    // The client asks this before it chooses the kind of append. A test on the calls that the server sees pins it.
    Object.defineProperty(client, 'supports', { value: () => Promise.resolve(false) });
  }
  const server = serverOf(url);
  return {
    client,
    server,
    ping: async (ms) => {
      try {
        await newestIn(client, ms);
      } catch (error) {
        const told = (problem: string): string => `EventStoreDB at ${server} ${problem}: ${messageOf(error)}`;
        if (error instanceof AccessDeniedError) throw new RefusedStart(told(DENIES));
        throw new Error(told('does not answer'), { cause: error });
      }
    },
    close: async () => {
      // dispose() ends the calls but leaves the channel, whose sockets would stay. Neither may delay the exit of the
      // process: a call that the client lost, or a cluster without a reachable member, could.
      await Promise.allSettled([endsWithin(client.dispose(), CLOSE_MS)]);
      if (hasChannel(client)) {
        const channel = client.getChannel().then((open) => open.close());
        await Promise.allSettled([endsWithin(channel, CLOSE_MS)]);
      }
    },
  };
};

/** Position of the newest event of the log, whichever program wrote it; START for an empty log. Rejects after `ms`. */
export const newestIn = async (client: EventStoreDBClient, ms = NEWEST_MS): Promise<Position> => {
  const reading = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
  const newest = async (): Promise<Position> => {
    for await (const { event } of itemsOf(reading)) if (event) return textOf(event.position);
    return START;
  };
  try {
    return await withDeadline(newest(), ms, 'a read of the newest event');
  } finally {
    release(reading, () => reading.cancel());
  }
};

/** The part of a readable stream used here. The client's streams are typed by another version of Node's types. */
interface Drainable {
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeAllListeners(event: 'readable'): unknown;
  resume(): unknown;
}

/** Yields the items of a read. The consumer may stop early, which releases the read. */
export async function* itemsOf<T>(read: StreamingRead<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* read.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<T>;
  } finally {
    release(read, () => read.cancel());
  }
}

/**
 * Ends the server's side of a read and drains what has already arrived. Otherwise the client would keep the call and
 * its unread answers for its whole life.
 */
export const release = (read: Drainable, cancel: () => Promise<void>): void => {
  // Rejects only when the call was never made, which the read itself has already reported as its error.
  void Promise.allSettled([cancel()]);
  // No caller awaits the read any more, and an error without a listener would end the process.
  read.on('error', () => undefined);
  read.removeAllListeners('readable');
  read.resume();
};

const serverOf = (url: string): string => /^[^:]+:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url)?.[1] ?? 'an unnamed host';

const hasChannel = (client: object): client is { getChannel(): Promise<{ close(): void }> } =>
  'getChannel' in client && typeof client.getChannel === 'function';
