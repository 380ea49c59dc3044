import { join } from 'node:path';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { messageOf } from '#libs/kernel/error-message.js';
import { type FromCheckpoints, type WriterThreadData } from './ops.js';
import { synchronousOf, type FileName } from './schema.js';
import { Database } from './sqlite-driver.js';
import { WalSignals } from './wal-signals.js';

/**
 * Entry of the thread that copies the write-ahead logs into their files, so that no commit waits for a copy
 * (docs/adr/0009-embedded-engine.md). It never blocks the writer or a reader: it copies up to the oldest page that a
 * reader still needs.
 */

const PERIOD_MS = 300;
/** Period while a log is large. It is not the usual one, because each pass copies busy pages once more. */
const SHORT_PERIOD_MS = 20;
const LARGE_PAGES = 8_192;
/** The writer adds pages during a pass, so each further pass has fewer to copy. */
const MOST_PASSES = 8;
/**
 * A log starts anew at a commit that finds it copied completely. A writer that never pauses leaves no such moment, so
 * from this many pages of 4 KB on it is asked to copy the last few itself.
 */
const RESTART_PAGES = 2_048;
const FEW_PAGES = 256;

const serve = (port: MessagePort, data: WriterThreadData): void => {
  const { dataDir, files } = data;
  const tell = (message: FromCheckpoints): void => port.postMessage(message);
  const signals = new WalSignals(data);
  const open = new Map<FileName, Database>();
  /** Number of the last commit that was copied completely, by file. */
  const copied = new Map<FileName, number>();

  /** Returns the pages in the log. */
  const copy = (file: FileName, db: Database): number => {
    const writes = signals.writes(file);
    if (copied.get(file) === writes) return 0;
    const startedAt = performance.now();
    let log = db.checkpoint();
    for (let pass = 1; log && log.copied < log.pages && pass < MOST_PASSES; pass++) {
      const before = log.copied;
      log = db.checkpoint() ?? log;
      // A reader needs the remaining pages.
      if (log.copied === before) break;
    }
    // The writer is copying at this moment.
    if (!log) return 0;
    const { pages } = log;
    const remaining = pages - log.copied;
    if (remaining === 0) copied.set(file, writes);
    if (pages >= RESTART_PAGES && remaining <= FEW_PAGES) signals.askForRestart(file);
    tell({ type: 'copied', file, remaining, ms: performance.now() - startedAt });
    return pages;
  };

  const round = (): void => {
    let pages = 0;
    for (const [file, db] of open) {
      try {
        pages = Math.max(pages, copy(file, db));
      } catch (error) {
        // The disk may be full. The writer meets the same error and reports it.
        tell({ type: 'failed', file, message: messageOf(error) });
      }
    }
    next = setTimeout(round, pages < LARGE_PAGES ? PERIOD_MS : SHORT_PERIOD_MS);
  };

  port.on('message', () => {
    clearTimeout(next);
    for (const db of open.values()) db.close();
    port.close();
  });
  for (const file of files) {
    open.set(file, new Database(join(dataDir, `${file}.db`), { synchronous: synchronousOf(file), cacheKib: 256 }));
  }
  let next = setTimeout(round, PERIOD_MS);
  tell({ type: 'ready' });
};

if (parentPort) serve(parentPort, workerData as WriterThreadData);
