import { type SentText } from '#libs/workflow-history/recorded-run.js';
import { type FileOperations } from '../writer/group-commit.js';
import { type HistoryWrite } from '../writer/ops.js';
import { type Database } from '../writer/sqlite-driver.js';

/** Places of one millisecond of arrival. The millisecond after it takes what is more. */
const PLACES_PER_MS = 4_096;

export const firstPlaceAt = (ms: number): number => ms * PLACES_PER_MS;

/** The millisecond that a place belongs to. */
export const arrivalAt = (place: number): number => Math.floor(place / PLACES_PER_MS);

/** Writes of the history of runs, in data.db. */
export const historyOperations = (db: Database): FileOperations => ({
  handlers: {
    history_put: (writes) => writes.flatMap((write) => (put(db, write) ? [] : [write.id])),
    history_sends: (texts) => {
      for (const text of texts) putSent(db, text);
      return null;
    },
    history_remove: (ids) => {
      for (const id of ids) remove(db, id);
      return null;
    },
  },
  reset: () => undefined,
});

const put = (db: Database, write: HistoryWrite): boolean => {
  const { id, expected, arrivedAt, texts, words } = write;
  const stored = db
    .sql('SELECT place, version FROM run_history WHERE id = ?')
    .get<{ place: number; version: number }>(id);
  if ((stored?.version ?? 0) !== expected) return false;
  const place = stored?.place ?? freePlace(db, arrivedAt);
  const names = Object.keys(write.columns);
  const values = Object.values(write.columns);
  if (stored)
    db.sql(`UPDATE run_history SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE place = ?`).run(
      ...values,
      place,
    );
  else
    db.sql(
      `INSERT INTO run_history(place, id, ${names.join(', ')}) VALUES (?, ?, ${names.map(() => '?').join(', ')})`,
    ).run(place, id, ...values);
  for (let i = 0; i < texts.length; i += 2) {
    const [name = '', text = null] = [texts[i] ?? '', texts[i + 1]];
    if (text === null) db.sql('DELETE FROM run_history_texts WHERE place = ? AND name = ?').run(place, name);
    else db.sql('INSERT OR REPLACE INTO run_history_texts VALUES (?, ?, ?)').run(place, name, text);
  }
  if (words !== undefined)
    db.sql('INSERT OR REPLACE INTO run_history_words(rowid, words) VALUES (?, ?)').run(place, words);
  return true;
};

const putSent = (db: Database, { run, name, text, order }: SentText): void => {
  const place = db.sql('SELECT place FROM run_history WHERE id = ?').get<{ place: number }>(run)?.place;
  if (place === undefined) return;
  const stored = db
    .sql('SELECT text FROM run_history_texts WHERE place = ? AND name = ?')
    .get<{ text: string }>(place, name)?.text;
  if (stored !== undefined && (JSON.parse(stored) as SentText).order > order) return;
  db.sql('INSERT OR REPLACE INTO run_history_texts VALUES (?, ?, ?)').run(place, name, text);
};

const freePlace = (db: Database, arrivedAt: number): number => {
  const first = firstPlaceAt(arrivedAt);
  const last = db
    .sql('SELECT max(place) AS last FROM run_history WHERE place >= ? AND place < ?')
    .get<{ last: number | null }>(first, first + PLACES_PER_MS)?.last;
  if (last === undefined || last === null) return first;
  return last + 1 < first + PLACES_PER_MS ? last + 1 : freePlace(db, arrivedAt + 1);
};

const remove = (db: Database, id: string): void => {
  const place = db.sql('DELETE FROM run_history WHERE id = ? RETURNING place').get<{ place: number }>(id)?.place;
  if (place === undefined) return;
  db.sql('DELETE FROM run_history_texts WHERE place = ?').run(place);
  db.sql('DELETE FROM run_history_words WHERE rowid = ?').run(place);
};
