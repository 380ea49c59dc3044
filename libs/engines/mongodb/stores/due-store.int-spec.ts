import { afterEach, describe, expect, it } from '@jest/globals';
import { type CommandStartedEvent, MongoClient } from 'mongodb';
import { openTestDatabase } from '../testing/test-database.js';
import { MongoDueStore } from './due-store.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe('the due store', () => {
  it('reads by due time and by owner from indexes that hold all that it asks for', async () => {
    const { db, drop } = await openTestDatabase();
    closing.push(drop);
    const client = new MongoClient(process.env['SLUICE_TEST_MONGO'] ?? '', { monitorCommands: true });
    closing.push(() => client.close());
    const asked: CommandStartedEvent['command'][] = [];
    client.on('commandStarted', ({ commandName, command }) => {
      if (['find', 'aggregate', 'delete', 'count'].includes(commandName)) asked.push(command);
    });
    const store = new MongoDueStore(client.db(db.databaseName));
    await store.ensureIndexes();
    const record = { key: 'wh_1', headers: { webhook: 'wh_1' }, value: '1' };
    await store.put([{ id: 'a', owner: 'wh_1', kind: 'delivery', dueAt: 5, record }]);
    expect((await store.dueBy(5, 10, ['wh_2'])).map(({ id }) => id)).toEqual(['a']);
    expect(await store.nextDueAt()).toBe(5);
    await store.waitingOf('wh_1');
    await store.removeOwner('wh_1');

    const indexes = await db.collection('due').indexes();
    const keys = new Map(indexes.map(({ name, key }) => [String(name), Object.entries(key)]));
    expect(keys.get('time')).toEqual([
      ['since', 1],
      ['_id', 1],
      ['owner', 1],
    ]);
    expect(keys.get('owner')).toEqual([['owner', 1]]);
    const [due, next, ofOwner, removal] = asked;
    expect(due).toMatchObject({
      find: 'due',
      hint: 'time',
      sort: new Map([
        ['since', 1],
        ['_id', 1],
      ]),
      filter: { since: { $lte: 5 }, owner: { $nin: ['wh_2'] } },
    });
    expect(next).toMatchObject({
      find: 'due',
      hint: 'time',
      sort: new Map([
        ['since', 1],
        ['_id', 1],
      ]),
      limit: 1,
    });
    expect(ofOwner).toMatchObject({ find: 'due', filter: { owner: 'wh_1' } });
    expect(removal).toMatchObject({ deletes: [{ q: { owner: 'wh_1' } }] });
  });
});
