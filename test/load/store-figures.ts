import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';

/** Totals that an installation has written so far. */
export interface StoreTotals {
  /** Figures by kind of topic: `invocations`, `emits`, `deliveries`, `attempts`. */
  readonly topics: Readonly<Record<string, { readonly records: number; readonly bytes: number }>>;
  /** Number of writes of run journals. Each creates one version. */
  readonly journalCommits: number;
  /** Number of batches of each read model over the stream log. */
  readonly batches: Readonly<Record<string, number>>;
}

export interface Stores {
  readonly kafka: string;
  /** Prefix of topics. */
  readonly prefix: string;
  /** The broker's folder of partitions. */
  readonly kafkaData: string;
  /** URL including the database in its path. */
  readonly mongo: string;
}

export const storeTotals = async (stores: Stores): Promise<StoreTotals> => ({
  topics: await topicTotals(stores),
  ...(await documentTotals(stores.mongo)),
});

/** Log files stay until their segment is closed, even with their records consumed. So a run of minutes misses none. */
const topicTotals = async ({ kafka, prefix, kafkaData }: Stores): Promise<StoreTotals['topics']> => {
  const admin = new Kafka({ clientId: 'bench', brokers: kafka.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const totals: Record<string, { records: number; bytes: number }> = {};
    for (const topic of (await admin.listTopics()).filter((name) => name.startsWith(prefix))) {
      const kind = topic.slice(prefix.length).split('.')[0] ?? '';
      const total = (totals[kind] ??= { records: 0, bytes: 0 });
      for (const { partition, high } of await admin.fetchTopicOffsets(topic)) {
        total.records += Number(high);
        total.bytes += logBytes(join(kafkaData, `${topic}-${partition}`));
      }
    }
    return totals;
  } finally {
    await admin.disconnect();
  }
};

const logBytes = (partition: string): number =>
  readdirSync(partition)
    .filter((name) => name.endsWith('.log'))
    .reduce((sum, name) => sum + statSync(join(partition, name)).size, 0);

interface Generations {
  readonly _id: string;
  readonly generations: Readonly<Record<string, { readonly batch: number }>>;
}

const documentTotals = async (url: string): Promise<Pick<StoreTotals, 'journalCommits' | 'batches'>> => {
  const client = await MongoClient.connect(url);
  try {
    const journals = await client
      .db()
      .collection<{ version: number }>('run_journal')
      .find({}, { projection: { version: 1 } })
      .toArray();
    const models = await client.db().collection<Generations>('read_models').find().toArray();
    const ofStream = models.filter(({ _id }) => /^(events\.summaries|webhooks\.attempts)\./.test(_id));
    return {
      journalCommits: journals.reduce((sum, { version }) => sum + version, 0),
      batches: Object.fromEntries(
        ofStream.map(({ _id, generations }) => [
          _id,
          Math.max(...Object.values(generations).map(({ batch }) => batch)),
        ]),
      ),
    };
  } finally {
    await client.close();
  }
};

/** Writes between two readings, per event delivered between them. */
export const storesSince = (before: StoreTotals, after: StoreTotals, events: number): StorePerEvent => ({
  topics: Object.fromEntries(
    Object.entries(after.topics).map(([kind, { records, bytes }]) => {
      const earlier = before.topics[kind] ?? { records: 0, bytes: 0 };
      return [kind, { records: (records - earlier.records) / events, bytes: (bytes - earlier.bytes) / events }];
    }),
  ),
  journalCommits: (after.journalCommits - before.journalCommits) / events,
  batches: Object.fromEntries(
    Object.entries(after.batches).map(([name, count]) => [name, (count - (before.batches[name] ?? 0)) / events]),
  ),
});

/** The same figures per event. */
export type StorePerEvent = StoreTotals;
