import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { COMPARED_CHARS } from '#libs/kernel/doc-matcher.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type ScannedRow, scanned } from '#libs/kernel/scanned.js';
import { Database, type SqlValue } from '../writer/sqlite-driver.js';
import { whereClause, whereValues } from './read-model-tables.js';
import { type FromScans, type ScanRequest, type ToScans } from './scan-thread.js';

/**
 * Entry of the thread that searches in read models, so that neither requests nor commits wait for a search. It reads one
 * slice a message, and between two of them it holds no lock and no transaction.
 */

/** Documents of one slice, about 10 ms. */
const MOST_AT_ONCE = 500;
const NO_TABLE = /no such table/;

interface Row {
  readonly id: string;
  readonly sort: string;
  readonly doc: string;
  readonly large: number;
}

const serve = (port: MessagePort, path: string): void => {
  const db = new Database(path, { readOnly: true });
  const tell = (message: FromScans): void => port.postMessage(message);
  port.on('message', (message: ToScans) => {
    if (message === 'close') {
      db.close();
      port.close();
      return;
    }
    const { id, request } = message;
    scan(db, request).then(
      (found) => tell({ id, found }),
      (error: unknown) => {
        db.forget(request.table);
        tell({ id, error: messageOf(error), isGone: NO_TABLE.test(messageOf(error)) });
      },
    );
  });
};

const scan = async (db: Database, { schema, table, query }: ScanRequest) => {
  const { where, from, to, after } = query;
  const clauses = [whereClause(db, schema, table, where)];
  const values: SqlValue[] = whereValues(where);
  const add = (clause: string, ...given: string[]): void => {
    clauses.push(clause);
    values.push(...given);
  };
  if (from !== undefined) add('sort >= ?', from);
  if (to !== undefined) add('sort <= ?', to);
  if (after !== undefined) add('(sort, id) < (?, ?)', after.sort, after.id);
  const examine = Math.min(query.examine, MOST_AT_ONCE);
  const large = schema.beside === undefined ? '0' : 'beside IS NOT NULL';
  const rows = db
    .sql(
      `SELECT id, sort, doc, ${large} AS large FROM ${table} WHERE ${clauses.join(' AND ')}
       ORDER BY sort DESC, id DESC LIMIT ?`,
    )
    .all<Row>(...values, examine)
    .map((row): ScannedRow => ({ id: row.id, sort: row.sort, doc: row.doc, hasBeside: row.large === 1 }));
  const text = db.sql(`SELECT substr(beside, 1, ${COMPARED_CHARS}) AS text FROM ${table} WHERE id = ?`);
  return scanned(rows, { ...query, examine }, (id) => text.get<{ text: string | null }>(id)?.text ?? undefined);
};

if (parentPort) serve(parentPort, (workerData as { readonly path: string }).path);
