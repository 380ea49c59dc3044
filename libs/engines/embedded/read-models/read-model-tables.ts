import { type CollectionSchema, type PageWhere } from '#libs/kernel/read-model-store.js';
import { type Database } from '../writer/sqlite-driver.js';

/** Layout of a collection in read.db: a table per generation, documents as JSON, a column per indexed field. */

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const tableOf = (schema: CollectionSchema, generation: number): string => quoted(`${schema.name}#${generation}`);

/** Prefixed so that a field named `id` or `doc` does not clash. */
export const columnOf = (field: string): string => quoted(`f_${field}`);

export const createTable = (schema: CollectionSchema, generation: number): string => {
  const table = tableOf(schema, generation);
  const columns = schema.indexed.map((field) => `, ${columnOf(field)} TEXT NOT NULL`).join('');
  const indexes = schema.indexed.map((field) => {
    const name = quoted(`${schema.name}#${generation}#${field}`);
    // Including the bytes lets a group be summed from the index alone.
    return `CREATE INDEX ${name} ON ${table}(${columnOf(field)}, sort, id${schema.bytes ? ', bytes' : ''});`;
  });
  const bytes = schema.bytes ? ', bytes INTEGER NOT NULL' : '';
  // Placed last, because SQLite reads a row only up to the last column asked for.
  const beside = schema.beside ? ', beside TEXT' : '';
  return `CREATE TABLE ${table}(id TEXT PRIMARY KEY, sort TEXT NOT NULL${columns}${bytes}, doc TEXT NOT NULL${beside});
    CREATE INDEX ${quoted(`${schema.name}#${generation}#`)} ON ${table}(sort, id);
    ${indexes.join('\n')}`;
};

export const dropTable = (schema: CollectionSchema, generation: number): string =>
  `DROP TABLE IF EXISTS ${tableOf(schema, generation)}`;

/** Enough rows to find out whether a field is selective. */
const PROBE = 500;

/**
 * Builds `f_a = ? AND +f_b = ?` in the order of the keys, with one parameter for a list of values too; `1` for none.
 * Throws for a field that the schema does not index. The field with the fewest rows is looked up by index and the
 * others (`+`) are compared. SQLite alone would use the newest index, however many rows share the value.
 */
export const whereClause = (db: Database, schema: CollectionSchema, table: string, where: PageWhere): string => {
  const fields = Object.keys(where);
  for (const field of fields) {
    if (!schema.indexed.includes(field)) {
      const known = schema.indexed.join(', ') || 'nothing';
      throw new Error(`collection ${schema.name} is not indexed by ${field}: only by ${known}`);
    }
  }
  if (fields.length === 0) return '1';
  let [best, fewest] = [fields[0], Number.POSITIVE_INFINITY];
  for (const field of fields.length > 1 ? fields : []) {
    const value = where[field];
    if (typeof value !== 'string') continue;
    const row = db
      .sql(`SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE ${columnOf(field)} = ? LIMIT ${PROBE})`)
      .get<{ n: number }>(value);
    if (row && row.n < fewest) [best, fewest] = [field, row.n];
  }
  return fields
    .map((field) => {
      const wanted = typeof where[field] === 'string' ? '= ?' : 'IN (SELECT value FROM json_each(?))';
      return `${field === best ? '' : '+'}${columnOf(field)} ${wanted}`;
    })
    .join(' AND ');
};

/** Values of the parameters of `whereClause`. */
export const whereValues = (where: PageWhere): string[] =>
  Object.values(where).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));

/** Text that differs between two different schemas of one name. */
export const shapeOf = (schema: CollectionSchema): string =>
  JSON.stringify({
    indexed: [...schema.indexed].sort(),
    sort: schema.sort,
    ...(schema.bytes === undefined ? {} : { bytes: schema.bytes }),
    ...(schema.beside === undefined ? {} : { beside: schema.beside }),
  });
