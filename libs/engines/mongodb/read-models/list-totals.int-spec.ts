import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AnyBulkWriteOperation, type Collection, type Db, type Document } from 'mongodb';
import { type CollectionSchema, type Doc, type ReadModelWrite, type Where } from '#libs/kernel/read-model-store.js';
import { MongoReadModelStore } from './read-model-store.js';
import { openTestDatabase } from '../testing/test-database.js';

const schema: CollectionSchema = {
  name: 'counted.list.v1',
  indexed: ['owner', 'listed'],
  sort: 'at',
  counted: [['owner'], ['owner', 'listed'], []],
};
/** The schema of a release without totals. */
const former: CollectionSchema = { name: schema.name, indexed: schema.indexed, sort: schema.sort };
const LISTS: readonly Where[] = [
  { owner: 'a' },
  { owner: 'b' },
  { owner: 'a', listed: 'yes' },
  { owner: 'b', listed: 'yes' },
  { owner: 'b', listed: 'no' },
  {},
];

const put = (id: string, owner: string, listed = 'yes', at = 1): ReadModelWrite => ({
  op: 'put',
  doc: { id, owner, listed, at: String(at) } as Doc,
});
const gone = (id: string): ReadModelWrite => ({ op: 'delete', id });

class World {
  /** Calls that count documents. */
  counts = 0;
  /** Number of operations of the next bulk write before its process dies. */
  diesAfter: number | undefined;
  /** Called before and after each bulk write, and after each count. */
  beforeBulk: () => Promise<void> = async () => undefined;
  afterBulk: () => Promise<void> = async () => undefined;
  afterCount: () => Promise<void> = async () => undefined;
  checkpoint: string | null = null;
  generation = 1;

  constructor(readonly db: Db) {}

  store(): MongoReadModelStore {
    const onWarning = (text: string, fields: object): never => {
      throw new Error(`${text}: ${JSON.stringify(fields)}`);
    };
    return new MongoReadModelStore(this.watched(), { clock: { now: () => 1 }, onWarning });
  }

  async apply(store: MongoReadModelStore, writes: readonly ReadModelWrite[], of = schema): Promise<void> {
    const next = String(Number(this.checkpoint ?? 0) + 1);
    await store.apply({ schema: of, generation: this.generation, expected: this.checkpoint, next, writes });
    this.checkpoint = next;
  }

  async totals(store: MongoReadModelStore): Promise<readonly number[]> {
    const pages = [];
    for (const where of LISTS) pages.push(await store.page(schema, { where, limit: 1 }));
    return pages.map(({ total }) => total);
  }

  async real(): Promise<readonly number[]> {
    const documents = this.db.collection(`read.${schema.name}.${this.generation}`);
    return Promise.all(
      LISTS.map(async (where) => {
        const fields = Object.entries(where).map(([field, value]) => [`f_${field}`, value] as const);
        return (await documents.find({ ...Object.fromEntries(fields), sort: { $gte: '' } }).toArray()).length;
      }),
    );
  }

  /** A generation is filled from the start. */
  begun(generation: number): void {
    this.generation = generation;
    this.checkpoint = null;
  }

  private watched(): Db {
    const collectionOf = (real: Collection<Document>): Collection<Document> =>
      new Proxy(real, {
        get: (target, name) => {
          const value = Reflect.get(target, name) as unknown;
          if (typeof value !== 'function') return value;
          const call = (...args: unknown[]): unknown => value.apply(target, args) as unknown;
          if (name === 'bulkWrite') {
            return (operations: AnyBulkWriteOperation[]) => this.bulkWrite(target, operations);
          }
          if (name !== 'countDocuments' && name !== 'aggregate' && name !== 'estimatedDocumentCount') return call;
          return async (...args: unknown[]) => {
            this.counts++;
            const counted = await (call(...args) as Promise<unknown>);
            await this.afterCount();
            return counted;
          };
        },
      });
    return new Proxy(this.db, {
      get: (target, name) =>
        name === 'collection'
          ? (...args: Parameters<Db['collection']>) => collectionOf(target.collection(...args))
          : (Reflect.get(target, name) as unknown),
    });
  }

  private async bulkWrite(target: Collection<Document>, operations: AnyBulkWriteOperation[]): Promise<unknown> {
    await this.beforeBulk();
    if (this.diesAfter === undefined) {
      const written = await target.bulkWrite(operations, { ordered: true });
      await this.afterBulk();
      return written;
    }
    const some = operations.slice(0, this.diesAfter);
    if (some.length > 0) await target.bulkWrite(some, { ordered: true });
    throw new Error('died');
  }
}

let world: World;
let drop: () => Promise<void>;
beforeEach(async () => {
  const opened = await openTestDatabase();
  world = new World(opened.db);
  drop = opened.drop;
});
afterEach(() => drop());

const FIRST = [put('1', 'a'), put('2', 'a', 'no'), put('3', 'b'), put('4', 'b', 'no'), put('5', 'b')];
/** Inserts, changes in place, moves to another list, deletes, a deletion of nothing, and several of one document. */
const SECOND = [
  put('6', 'a'),
  put('1', 'a', 'yes', 2),
  put('2', 'b', 'yes'),
  gone('3'),
  gone('none'),
  put('7', 'a'),
  gone('7'),
  gone('4'),
  put('4', 'b', 'yes'),
];

describe('the total of a list', () => {
  it('is that of its documents, and no document is counted for it', async () => {
    const store = world.store();
    await store.register(schema);
    expect(await world.totals(store)).toEqual([0, 0, 0, 0, 0, 0]);
    await world.apply(store, FIRST);
    expect(await world.totals(store)).toEqual([2, 3, 1, 2, 1, 5]);
    await world.apply(store, SECOND);
    expect(await world.totals(store)).toEqual([2, 3, 2, 3, 0, 5]);
    await world.apply(store, [put('1', 'a', 'no', 3)]);
    expect(await world.totals(store)).toEqual([2, 3, 1, 3, 0, 5]);
    expect(await world.totals(world.store())).toEqual(await world.real());
    expect(world.counts).toBe(0);
  });

  it('is right after a writer died anywhere in a batch, and is counted once at most', async () => {
    const operations = 20;
    for (let at = 0; at <= operations; at++) {
      const opened = await openTestDatabase();
      const own = new World(opened.db);
      try {
        const dying = own.store();
        await dying.register(schema);
        await own.apply(dying, FIRST);
        own.diesAfter = at;
        await expect(own.apply(dying, SECOND)).rejects.toThrow('died');
        own.diesAfter = undefined;
        const next = own.store();
        await own.apply(next, SECOND);
        const real = await own.real();
        expect([at, await own.totals(next)]).toEqual([at, real]);
        const { counts } = own;
        expect(counts).toBeLessThanOrEqual(LISTS.length);
        expect([at, await own.totals(own.store()), own.counts]).toEqual([at, real, counts]);
        await own.apply(next, [put('9', 'a'), gone('5')]);
        expect([at, await own.totals(next), own.counts]).toEqual([at, await own.real(), counts]);
      } finally {
        await opened.drop();
      }
    }
  }, 120_000);

  it('is right after a release that keeps no totals has written, and is counted once', async () => {
    const [store, old] = [world.store(), world.store()];
    await store.register(schema);
    await world.apply(store, FIRST);
    await world.apply(old, SECOND, former);
    expect(await world.totals(store)).toEqual(await world.real());
    await world.apply(store, [put('8', 'a')]);
    expect(await world.totals(store)).toEqual(await world.real());
    const { counts } = world;
    await world.apply(store, [put('9', 'a'), gone('8'), gone('5')]);
    expect(await world.totals(store)).toEqual(await world.real());
    expect(world.counts).toBe(counts);
  });

  it('is right in a collection from before totals were kept', async () => {
    const old = world.store();
    await old.register(former);
    await world.apply(old, FIRST, former);
    const store = world.store();
    await store.register(schema);
    expect(await world.totals(store)).toEqual(await world.real());
    await world.apply(store, SECOND);
    expect(await world.totals(store)).toEqual(await world.real());
  });

  it('is that of the new documents after a rebuild', async () => {
    const store = world.store();
    await store.register(schema);
    await world.apply(store, FIRST);
    world.begun(await store.beginGeneration(schema));
    await world.apply(store, [put('1', 'b'), put('2', 'b')]);
    await store.activateGeneration(schema, world.generation);
    expect(await world.totals(store)).toEqual([0, 2, 0, 2, 0, 2]);
    expect(world.counts).toBe(0);
  });

  it('that is counted while a batch changes the list is not kept', async () => {
    const [old, store] = [world.store(), world.store()];
    await old.register(former);
    await world.apply(old, FIRST, former);
    await world.apply(store, [put('6', 'a')]);
    let changes = 1;
    world.afterCount = async () => {
      if (changes-- > 0) await world.apply(store, [put('7', 'a'), put('8', 'b')]);
    };
    const reader = world.store();
    await world.totals(reader);
    expect(await world.totals(reader)).toEqual(await world.real());
  });

  it('is that of before while a batch writes', async () => {
    const store = world.store();
    await store.register(schema);
    await world.apply(store, FIRST);
    const reader = world.store();
    await reader.register(schema);
    const seen: (readonly number[])[] = [];
    world.diesAfter = 8;
    await expect(world.apply(store, SECOND)).rejects.toThrow('died');
    // Simulates a writer in the middle of its batch.
    seen.push(await world.totals(reader));
    expect(seen).toEqual([[2, 3, 1, 2, 1, 5]]);
    expect(world.counts).toBe(0);
  });

  it.each(['before', 'after'] as const)(
    'is right when an owner hangs %s its writes while another goes on',
    async (when) => {
      const [stale, next] = [world.store(), world.store()];
      await stale.register(schema);
      await world.apply(stale, FIRST);
      let hangs = true;
      const goesOn = async (): Promise<void> => {
        if (!hangs) return;
        hangs = false;
        await world.apply(next, SECOND);
        await world.apply(next, [put('8', 'a'), gone('5')]);
      };
      if (when === 'before') world.beforeBulk = goesOn;
      else world.afterBulk = goesOn;
      await expect(world.apply(stale, SECOND)).rejects.toThrow('another projector owns it');
      world.checkpoint = '3';
      expect(await world.totals(next)).toEqual(await world.real());
      await world.apply(next, [put('9', 'b'), gone('8')]);
      const { counts } = world;
      expect(await world.totals(next)).toEqual(await world.real());
      expect(world.counts).toBeLessThanOrEqual(counts + LISTS.length);
    },
  );

  it('is not asked for by callers that need none', async () => {
    const store = world.store();
    await store.register(former);
    await world.apply(store, FIRST, former);
    const { docs, total } = await store.page(former, { where: { owner: 'a' }, limit: 10, withTotal: false });
    expect([docs.length, total, world.counts]).toEqual([2, 0, 0]);
  });
});

it('documents of a collection with totals are not deleted by ranges', async () => {
  const store = world.store();
  await store.register(schema);
  const range: ReadModelWrite = { op: 'delete_range', where: { owner: 'a' } };
  await expect(world.apply(store, [range])).rejects.toThrow('not by delete_range');
});
