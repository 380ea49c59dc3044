import { MongoClient, type Db } from 'mongodb';
import { withDeadline } from '#libs/async/deadline.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { connectionError } from './refused-connection.js';

export interface MongoConnection {
  readonly db: Db;
  /** Rejects within 2 s with the reason. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const DATABASE = 'sluice';
const SELECT_MS = 2_000;
const PING_MS = SELECT_MS - 100;
/** Time after which a request that the server accepted but did not answer is given up. */
const SOCKET_MS = 30_000;

/**
 * One client for all ports. Writes are on the disks of a majority, and reads return majority data. Rejects within 4 s
 * when the server cannot be reached, and with RefusedStart when it refuses the user or its certificate is not trusted,
 * naming hosts but never credentials.
 */
export const connectMongo = async (url: string, database?: string): Promise<MongoConnection> => {
  const client = clientOf(url);
  const hosts = client.options.hosts.map((host) => host.toString()).join(', ');
  const named = pathOf(url);
  const db = client.db(database ?? (named === '' ? DATABASE : named));
  // The driver tries again until its deadline, which ends after ours, and tells the reason of each failure here.
  let lastFailure: Error | undefined;
  client.on('serverHeartbeatFailed', ({ failure }) => (lastFailure = failure));
  const inTime = async (command: Promise<unknown>): Promise<void> => {
    lastFailure = undefined;
    try {
      await withDeadline(command, PING_MS, () => lastFailure ?? new Error(`no answer within ${PING_MS} ms`));
    } catch (error) {
      throw connectionError(error, hosts, reasonOf(error, url));
    }
  };
  const ping = (): Promise<void> => inTime(db.command({ ping: 1 }));
  try {
    await ping();
    // Unlike a ping, this needs a user where the server knows any.
    await inTime(db.collection<{ _id: string }>('leases').findOne({ _id: '' }));
  } catch (error) {
    await client.close();
    throw error;
  }
  return { db, ping, close: () => client.close() };
};

const clientOf = (url: string): MongoClient => {
  try {
    return new MongoClient(url, {
      appName: 'sluice',
      serverSelectionTimeoutMS: SELECT_MS,
      connectTimeoutMS: SELECT_MS,
      socketTimeoutMS: SOCKET_MS,
      writeConcern: { w: 'majority', journal: true },
      readConcern: { level: 'majority' },
      readPreference: 'primary',
    });
  } catch (error) {
    throw new Error(`the URL of MongoDB is not valid: ${reasonOf(error, url)}`);
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
