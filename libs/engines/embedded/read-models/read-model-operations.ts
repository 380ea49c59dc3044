import { type CollectionSchema } from '#libs/kernel/read-model-store.js';
import { Refused, type FileOperations } from '../writer/group-commit.js';
import { type Ops, type ReadWrite } from '../writer/ops.js';
import { createTable, dropTable, shapeOf, tableOf, whereClause } from './read-model-tables.js';
import { type Database } from '../writer/sqlite-driver.js';

interface CollectionRow {
  readonly shape: string;
  readonly active: number;
  readonly last_generation: number;
}

/** Writes of read.db. */
export const readModelOperations = (db: Database): FileOperations => {
  const collection = (schema: CollectionSchema): CollectionRow | undefined =>
    db.sql('SELECT * FROM collections WHERE name = ?').get<CollectionRow>(schema.name);

  const existing = (schema: CollectionSchema): CollectionRow => {
    const row = collection(schema);
    if (!row) throw new Error(`collection ${schema.name} is not registered`);
    return row;
  };

  const addGeneration = (schema: CollectionSchema, generation: number): void => {
    db.exec(createTable(schema, generation));
    db.sql('INSERT INTO checkpoints VALUES (?, ?, NULL)').run(schema.name, generation);
  };

  const prune = (schema: CollectionSchema): null => {
    const gone = db
      .sql('SELECT generation FROM checkpoints WHERE collection = ? AND generation <> ?')
      .all<{ generation: number }>(schema.name, existing(schema).active);
    for (const { generation } of gone) {
      db.forget(tableOf(schema, generation));
      db.exec(dropTable(schema, generation));
      db.sql('DELETE FROM checkpoints WHERE collection = ? AND generation = ?').run(schema.name, generation);
    }
    return null;
  };

  const register = (schema: CollectionSchema): number => {
    const row = collection(schema);
    if (row && row.shape !== shapeOf(schema)) {
      throw new Error(
        `collection ${schema.name} is stored as ${row.shape}, asked for as ${shapeOf(schema)}: ` +
          `a changed projection needs a new name (.v2)`,
      );
    }
    if (row) return row.active;
    db.sql('INSERT INTO collections VALUES (?, ?, 1, 1)').run(schema.name, shapeOf(schema));
    addGeneration(schema, 1);
    return 1;
  };

  const begin = (schema: CollectionSchema): number => {
    const { last_generation: last } = existing(schema);
    prune(schema);
    addGeneration(schema, last + 1);
    db.sql('UPDATE collections SET last_generation = ? WHERE name = ?').run(last + 1, schema.name);
    return last + 1;
  };

  const activate = ({ schema, generation }: Ops['activate']['args']): null => {
    const { active, last_generation: last } = existing(schema);
    if (generation === active) return null;
    if (generation !== last) throw new Error(`collection ${schema.name} has no generation ${generation} to activate`);
    // The former generation stays until the readers have switched to this one (prune).
    db.sql('UPDATE collections SET active = ? WHERE name = ?').run(generation, schema.name);
    return null;
  };

  return { handlers: { register, begin, activate, prune, apply: (batch) => apply(db, batch) }, reset: () => undefined };
};

const apply = (db: Database, batch: Ops['apply']['args']): null => {
  const { schema, generation, expected, next, writes } = batch;
  const row = db
    .sql('SELECT checkpoint FROM checkpoints WHERE collection = ? AND generation = ?')
    .get<{ checkpoint: string | null }>(schema.name, generation);
  if (!row) throw new Error(`collection ${schema.name} has no generation ${generation}`);
  if (row.checkpoint !== expected) {
    throw new Refused({ rule: 'checkpoint', collection: schema.name, expected, actual: row.checkpoint });
  }
  for (const write of writes) writeOne(db, schema, tableOf(schema, generation), write);
  db.sql('UPDATE checkpoints SET checkpoint = ? WHERE collection = ? AND generation = ?').run(
    next,
    schema.name,
    generation,
  );
  return null;
};

const writeOne = (db: Database, schema: CollectionSchema, table: string, write: ReadWrite): void => {
  switch (write.op) {
    case 'put':
      db.sql(`INSERT OR REPLACE INTO ${table} VALUES (${write.values.map(() => '?').join(', ')})`).run(...write.values);
      return;
    case 'delete':
      db.sql(`DELETE FROM ${table} WHERE id = ?`).run(write.id);
      return;
    case 'delete_range': {
      const bounds = [write.from, write.to].filter((bound) => bound !== null);
      const sql = `DELETE FROM ${table} WHERE ${whereClause(db, schema, table, write.where)}
        ${write.from === null ? '' : 'AND sort >= ?'} ${write.to === null ? '' : 'AND sort <= ?'}`;
      db.sql(sql).run(...Object.values(write.where), ...bounds);
      return;
    }
    case 'trim': {
      const where = whereClause(db, schema, table, write.where);
      const values = Object.values(write.where);
      const highest = [
        ...(write.keep === null ? [] : [beyondCount(db, table, where, values, write.keep)]),
        ...(write.bytes === null ? [] : [beyondBytes(db, table, where, values, write.bytes)]),
      ];
      for (const key of highest) {
        if (key)
          db.sql(`DELETE FROM ${table} WHERE ${where} AND (sort, id) <= (?, ?)`).run(...values, key.sort, key.id);
      }
      return;
    }
  }
};

interface Key {
  readonly sort: string;
  readonly id: string;
}

/** Finds the highest document beyond the `keep` newest. */
const beyondCount = (db: Database, table: string, where: string, values: string[], keep: number): Key | undefined =>
  db
    .sql(`SELECT sort, id FROM ${table} WHERE ${where} ORDER BY sort DESC, id DESC LIMIT 1 OFFSET ?`)
    .get<Key>(...values, Math.max(0, keep));

/** Finds the highest document to delete so that the newer ones fit. Sums from the index, then walks the excess. */
const beyondBytes = (db: Database, table: string, where: string, values: string[], limit: number): Key | undefined => {
  const sum = db.sql(`SELECT coalesce(sum(bytes), 0) AS total FROM ${table} WHERE ${where}`);
  let excess = (sum.get<{ total: number }>(...values)?.total ?? 0) - limit;
  let highest: Key | undefined;
  if (excess <= 0) return undefined;
  const oldest = db.sql(`SELECT sort, id, bytes FROM ${table} WHERE ${where} ORDER BY sort, id`);
  for (const { sort, id, bytes } of oldest.iterate<Key & { readonly bytes: number }>(...values)) {
    highest = { sort, id };
    excess -= bytes;
    if (excess <= 0) break;
  }
  return highest;
};
