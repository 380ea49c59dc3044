import { MongoClient, type Db } from 'mongodb';
import { withDeadline } from '#libs/async/deadline.js';
import { messageOf } from '#libs/kernel/error-message.js';

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
 * One client for all ports. Writes are on the disks of a majority, and reads return majority data. Rejects within 3 s
 * when the server cannot be reached or refuses, naming hosts but never credentials.
 */
export const connectMongo = async (url: string, database?: string): Promise<MongoConnection> => {
  const client = clientOf(url);
  const hosts = client.options.hosts.map((host) => host.toString()).join(', ');
  const named = pathOf(url);
  const db = client.db(database ?? (named === '' ? DATABASE : named));
  const ping = async (): Promise<void> => {
    try {
      await withDeadline(db.command({ ping: 1 }), PING_MS, () => new Error(`no answer within ${PING_MS} ms`));
    } catch (error) {
      throw new Error(`MongoDB at ${hosts} cannot be reached: ${reasonOf(error, url)}`);
    }
  };
  try {
    await ping();
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
