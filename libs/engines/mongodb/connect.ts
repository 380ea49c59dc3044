import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { MongoClient, type Db, type MongoClientOptions } from 'mongodb';
import { withDeadline } from '#libs/async/deadline.js';
import { RefusedStart } from '#libs/config/refused-start.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { connectionError } from './refused-connection.js';

export interface MongoConnection {
  readonly db: Db;
  /** The same database on separate connections, so that signs of life do not queue behind slow requests. */
  readonly beats: Db;
  /** Rejects within 2 s with the reason. */
  ping(): Promise<void>;
  /** The wall clock of the primary, in epoch milliseconds. Rejects within 2 s. */
  serverTime(): Promise<number>;
  close(): Promise<void>;
}

const DATABASE = 'sluice';
const CONNECT_MS = 2_000;
const PING_MS = CONNECT_MS - 100;
/** Time that a request waits for a primary. A replica set elects one within 12 s after the death of the former. */
const ELECTION_MS = 20_000;
/** Time after which a request that the server accepted but did not answer fails. */
const SOCKET_MS = 30_000;
/**
 * Connections to one server for the requests of this process. A lane of work has one or two requests in flight, and a
 * slow server must not receive more and more of them (docs/how-to/scale-out.md).
 */
const POOL_SIZE = 50;
/** Connections for leases and the reports of processes. */
const BEATS_POOL_SIZE = 4;
/** Connections that are opened at a time, so that busy processes do not flood a new primary. */
const CONNECTING = 4;

/**
 * One client for all ports. Writes are on the disks of a majority, and reads return majority data. Rejects within 4 s
 * when the server cannot be reached, and with RefusedStart when the URL is invalid, the server refuses the user, or its
 * certificate is not trusted. Errors name hosts but never credentials.
 */
export const connectMongo = async (url: string, database?: string): Promise<MongoConnection> => {
  const client = clientOf(url, {
    serverSelectionTimeoutMS: ELECTION_MS,
    ...(hasPoolSize(url) ? {} : { maxPoolSize: POOL_SIZE }),
  });
  const beating = clientOf(url, { serverSelectionTimeoutMS: CONNECT_MS, maxPoolSize: BEATS_POOL_SIZE });
  // The hosts behind mongodb+srv:// are looked up with the first request.
  const hosts = client.options.srvHost ?? client.options.hosts.map((host) => host.toString()).join(', ');
  const named = pathOf(url);
  const name = database ?? (named === '' ? DATABASE : named);
  const db = client.db(name);
  const beats = beating.db(name);
  const close = async (): Promise<void> => {
    await Promise.all([client.close(), beating.close()]);
  };
  // The driver retries until its deadline, which is later than ours, and reports the reason of each failure here.
  let lastFailure: Error | undefined;
  client.on('serverHeartbeatFailed', ({ failure }) => (lastFailure = failure));
  const inTime = async (command: Promise<unknown>): Promise<void> => {
    lastFailure = undefined;
    try {
      await withDeadline(
        command,
        PING_MS,
        () => lastFailure ?? new EngineUnavailable('MongoDB', `no answer within ${PING_MS} ms`),
      );
    } catch (error) {
      throw connectionError(error, hosts, reasonOf(error, url));
    }
  };
  const ping = (): Promise<void> => inTime(db.command({ ping: 1 }));
  try {
    // A client whose first request finds no primary stays closed, so both clients send one here.
    await Promise.all([ping(), inTime(beats.command({ ping: 1 }))]);
    // Unlike a ping, this request requires a user if the server has users.
    await inTime(db.collection<{ _id: string }>('leases').findOne({ _id: '' }));
  } catch (error) {
    await close();
    throw error;
  }
  const serverTime = async (): Promise<number> => {
    const { localTime } = await beats.command({ hello: 1 }, { timeoutMS: CONNECT_MS });
    if (localTime instanceof Date) return localTime.getTime();
    throw new Error('the server does not tell its time');
  };
  return { db, beats, ping, serverTime, close };
};

const hasPoolSize = (url: string): boolean => /[?&]maxPoolSize=/i.test(url);

type Choices = Pick<MongoClientOptions, 'maxPoolSize' | 'serverSelectionTimeoutMS'>;

const clientOf = (url: string, choices: Choices): MongoClient => {
  try {
    return new MongoClient(url, {
      appName: 'sluice',
      ...choices,
      maxConnecting: CONNECTING,
      connectTimeoutMS: CONNECT_MS,
      socketTimeoutMS: SOCKET_MS,
      writeConcern: { w: 'majority', journal: true },
      readConcern: { level: 'majority' },
      readPreference: 'primary',
    });
  } catch (error) {
    throw new RefusedStart(`SLUICE_MONGO_URL is refused by the driver of MongoDB: ${reasonOf(error, url)}`);
  }
};

/** The database named in the URL; '' for none. */
const pathOf = (url: string): string => /^[^:]+:\/\/[^/?]+\/([^?]*)/.exec(url)?.[1] ?? '';

/** Returns the reason without the original error as a cause, because its text may hold the password. */
const reasonOf = (error: unknown, url: string): string => {
  const text = messageOf(error);
  const password = /^[^:]+:\/\/[^:@/]*:([^@]*)@/.exec(url)?.[1];
  if (password === undefined || password === '') return text;
  return text.replaceAll(password, '***').replaceAll(decodeURIComponent(password), '***');
};
