import { randomBytes } from 'node:crypto';
import { MongoClient, type Db } from 'mongodb';

/** A separate database on the server of SLUICE_TEST_MONGO. `drop` removes it and closes the client. */
export const openTestDatabase = async (): Promise<{ readonly db: Db; readonly drop: () => Promise<void> }> => {
  const url = process.env['SLUICE_TEST_MONGO'];
  if (!url) throw new Error('SLUICE_TEST_MONGO is not set: run npm run test:engines');
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5000 });
  const db = client.db(`sluice_test_${randomBytes(6).toString('hex')}`);
  const drop = async (): Promise<void> => {
    try {
      await db.dropDatabase();
    } finally {
      await client.close();
    }
  };
  return { db, drop };
};
