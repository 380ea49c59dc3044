import { join } from 'node:path';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { eventOperations } from '../events/event-operations.js';
import { GroupCommit, type FileOperations } from './group-commit.js';
import { type FromWriter, type ToWriter, type WriterThreadData } from './ops.js';
import { readModelOperations } from '../read-models/read-model-operations.js';
import { recordOperations } from '../stream-log/record-operations.js';
import { runOperations } from '../runs/run-operations.js';
import { ensureSchema, synchronousOf, type FileName } from './schema.js';
import { delayedOperations } from '../stores/delayed-operations.js';
import { dueOperations } from '../stores/due-operations.js';
import { dataStoreOperations } from '../stores/data-store-operations.js';
import { historyOperations } from '../stores/history-operations.js';
import { smallOperations } from '../stores/small-operations.js';
import { Database, isNoSpace } from './sqlite-driver.js';
import { WalSignals } from './wal-signals.js';

/** Entry of the writer thread, the only writer of its files. Each request is a transaction with an answer, in order. */

const joined = (parts: readonly FileOperations[]): FileOperations => ({
  handlers: Object.assign({}, ...parts.map((part) => part.handlers)) as FileOperations['handlers'],
  beforeGroup: () => parts.forEach((part) => part.beforeGroup?.()),
  beforeCommit: () => parts.forEach((part) => part.beforeCommit?.()),
  reset: () => parts.forEach((part) => part.reset()),
});

const operationsOf = (file: FileName, db: Database): FileOperations => {
  switch (file) {
    case 'events':
      return eventOperations(db);
    case 'data': {
      const records = recordOperations(db);
      return joined([
        records,
        ...[
          runOperations(db, records),
          smallOperations(db),
          dueOperations(db),
          delayedOperations(db),
          dataStoreOperations(db),
          historyOperations(db),
        ],
      ]);
    }
    case 'read':
      return readModelOperations(db);
  }
};

const openFile = (dataDir: string, file: FileName): { db: Database; commits: GroupCommit } => {
  const db = new Database(join(dataDir, `${file}.db`), {
    synchronous: synchronousOf(file),
    cacheKib: file === 'events' ? 2048 : 8192,
  });
  ensureSchema(file, db);
  return { db, commits: new GroupCommit(file, db, operationsOf(file, db)) };
};

const notOpened = (error: unknown, path: string): string => {
  if (error instanceof UnusableDataDirectory) return error.message;
  if (isNoSpace(error)) return `${path} cannot be opened, because its disk is full: make room, and start again`;
  return (
    `${path} cannot be opened (${messageOf(error)}): put the data directory back from a backup, ` +
    `or set SLUICE_DATA_DIR to a new folder to start an empty installation`
  );
};

/** Copies the few remaining pages, so that the log starts anew with the next commit. */
const copyRest = (db: Database): void => {
  try {
    db.checkpoint();
  } catch {
    // The checkpoint thread tries again, and reports a failure.
  }
};

const serve = (port: MessagePort, data: WriterThreadData): void => {
  const { dataDir, files } = data;
  const signals = new WalSignals(data);
  const answer = (message: FromWriter): void => port.postMessage(message);
  const open = new Map<FileName, { db: Database; commits: GroupCommit }>();
  for (const file of files) {
    try {
      open.set(file, openFile(dataDir, file));
    } catch (error) {
      answer({ type: 'refused', message: notOpened(error, join(dataDir, `${file}.db`)) });
      return;
    }
  }
  port.on('message', (message: ToWriter) => {
    if (message.type === 'close') {
      for (const { db } of open.values()) {
        // Checkpoint explicitly, because a connection whose statements are not yet collected does not count as closed.
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        db.close();
      }
      answer({ type: 'closed' });
      port.close();
      return;
    }
    const file = open.get(message.file);
    if (!file) throw new Error(`this writer does not own ${message.file}.db`);
    const { ops, packed } = message;
    const reply = file.commits.apply(ops, packed);
    const records = packed.buffer;
    port.postMessage({ type: 'reply', memory: records, ...reply } satisfies FromWriter, [records]);
    signals.written(message.file);
    if (signals.takeAsked(message.file)) copyRest(file.db);
  });
  answer({ type: 'ready' });
};

if (parentPort) serve(parentPort, workerData as WriterThreadData);
