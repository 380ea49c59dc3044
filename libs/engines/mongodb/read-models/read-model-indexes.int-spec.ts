import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MongoClient, type Db, type Document } from 'mongodb';
import { COMPONENTS } from '#libs/components/read-models/components.projection.js';
import { eventSummaries } from '#libs/events/read-models/event-summaries.projection.js';
import { systemClock } from '#libs/kernel/clock.js';
import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { SOURCES } from '#libs/sources/read-models/sources.projection.js';
import { subscriptionsProjection } from '#libs/subscriptions/read-models/subscriptions.projection.js';
import { apiKeysProjection } from '#libs/tenancy/read-models/api-keys.projection.js';
import { deliveryAttempts } from '#libs/webhooks/read-models/attempts.projection.js';
import { MongoReadModelStore } from './read-model-store.js';

const schemas: readonly CollectionSchema[] = [
  COMPONENTS,
  SOURCES,
  eventSummaries,
  deliveryAttempts,
  apiKeysProjection.schema,
  subscriptionsProjection.schema,
];

const url = process.env['SLUICE_TEST_MONGO'];
if (url === undefined) throw new Error('SLUICE_TEST_MONGO is not set: run npm run test:engines');
const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000, monitorCommands: true });
/** FerretDB's explain reports how SQLite reads its table, not which index MongoDB would use. */
const stands = 'ferretdbVersion' in (await client.db('admin').command({ buildInfo: 1 }));

let db: Db;
let store: MongoReadModelStore;
const commands: Document[] = [];

beforeAll(() => {
  db = client.db(`sluice_test_indexes_${process.pid}`);
  store = new MongoReadModelStore(db, { clock: systemClock, onWarning: () => undefined });
  client.on('commandStarted', ({ command }) => commands.push(command));
});
beforeEach(() => {
  commands.length = 0;
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

/** Some documents, then every list of the schema: all, by each field, by two fields; first page, after, before. */
const useAll = async (schema: CollectionSchema): Promise<void> => {
  const fields = Object.fromEntries(schema.indexed.map((field) => [field, 'x']));
  const docs = Array.from({ length: 50 }, (_, i): Doc => ({ ...fields, [schema.sort]: `${100 + i}`, id: `d${i}` }));
  const { active: generation, checkpoint: expected } = await store.register(schema);
  const writes = docs.map((doc) => ({ op: 'put', doc }) as const);
  await store.apply({ schema, generation, expected, next: '1', writes });
  commands.splice(0);
  const [first, second] = schema.indexed;
  const wheres = [{}, ...schema.indexed.map((field) => ({ [field]: 'x' }))];
  if (first !== undefined && second !== undefined) wheres.push({ [first]: 'x', [second]: 'x' });
  for (const where of wheres) {
    await store.page(schema, { where, limit: 5 });
    await store.page(schema, { where, limit: 5, after: 'd40' });
    await store.page(schema, { where, limit: 5, before: 'd10' });
    await store.page(schema, { where, limit: 5, after: 'd40', before: 'd10' });
  }
};

const stagesOf = (plan: unknown): string[] =>
  [...JSON.stringify(plan).matchAll(/"stage":"(\w+)"/g)].map(([, stage]) => stage ?? '');

if (stands) {
  describe('on FerretDB, whose explain shows no index of MongoDB', () => {
    it.each(schemas)('each list of $name has an index of its field, then the order; no page skips', async (schema) => {
      await useAll(schema);
      const indexes = await db.collection(`read.${schema.name}.1`).indexes();
      const keys = indexes.map(({ key }) => Object.entries(key));
      const order = [
        ['sort', -1],
        ['_id', -1],
      ];
      for (const field of schema.indexed) expect(keys).toContainEqual([[`f_${field}`, 1], ...order]);
      expect(keys).toContainEqual(order);
      const finds = commands.filter((command) => 'sort' in command);
      expect(finds.length).toBeGreaterThan(0);
      for (const find of finds) expect(find).not.toHaveProperty('skip');
    });
  });
} else {
  describe('on MongoDB, by explain', () => {
    it.each(schemas)('each list of $name is read from an index in its order', async (schema) => {
      await useAll(schema);
      const finds = commands.filter((command) => 'sort' in command);
      expect(finds.length).toBeGreaterThan(0);
      for (const command of finds) {
        // The request as the store sent it, without its session fields.
        const find = Object.fromEntries(
          ['find', 'filter', 'sort', 'limit'].map((key) => [key, command[key] as unknown]),
        );
        const explained = await db.command({ explain: find, verbosity: 'queryPlanner' });
        const stages = stagesOf((explained['queryPlanner'] as Document)['winningPlan']);
        expect(stages).toContain('IXSCAN');
        expect(stages).not.toContain('SORT');
        expect(stages).not.toContain('COLLSCAN');
      }
    });
  });
}
