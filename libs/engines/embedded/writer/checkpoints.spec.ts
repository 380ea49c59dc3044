import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Checkpoints, type CheckpointOptions, type LargeLog } from './checkpoints.js';
import { Database } from './sqlite-driver.js';
import { threadData, WalSignals } from './wal-signals.js';
import { Writer } from './writer.js';

const LONG = 120_000;
const MB = 1 << 20;
/** A thread that does nothing but end on request. */
const STANDS_STILL = `
  import { parentPort } from 'node:worker_threads';
  parentPort.once('message', () => parentPort.close());
  parentPort.postMessage({ type: 'ready' });
`;
const entryOf = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

describe('checkpoints of the write-ahead log', () => {
  let dataDir: string;
  let writer: Writer;
  let checkpoints: Checkpoints;
  let signals: WalSignals;
  let fatal: Error[];
  let told: LargeLog[];
  let written: number;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'sluice-checkpoints-'));
    fatal = [];
    told = [];
    written = 0;
  });
  afterEach(async () => {
    await writer.close(() => checkpoints.close());
    rmSync(dataDir, { recursive: true });
  });

  const start = async (options: Partial<CheckpointOptions> = {}): Promise<void> => {
    const data = threadData(dataDir, ['data']);
    signals = new WalSignals(data);
    writer = await Writer.start(data, (error) => fatal.push(error));
    const onLargeLog = (log: LargeLog): void => void told.push(log);
    checkpoints = await Checkpoints.start(data, {
      onFatal: (error) => fatal.push(error),
      onLargeLog,
      lookMs: 50,
      ...options,
    });
  };
  /** Writes secrets of 100 KB. */
  const write = async (bytes: number): Promise<void> => {
    for (let left = bytes; left > 0; left -= 100_000) {
      const sealed = Buffer.alloc(100_000, 1);
      await writer.submit('put_secret', { ref: `s${written++ % 300}`, workspace: 'o_1', sealed });
    }
  };
  const logBytes = (): number => statSync(join(dataDir, 'data.db-wal')).size;
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const fileBytes = (): number => statSync(join(dataDir, 'data.db')).size;
  const onDisk = (): Database => new Database(join(dataDir, 'data.db'), { readOnly: true });

  it(
    'keep it small while a writer never pauses, without a checkpoint in a commit',
    async () => {
      await start();
      // Several writes at once, so that the next group waits whenever one is committed.
      await Promise.all([0, 1, 2, 3].map(() => write(100 * MB)));
      expect(logBytes()).toBeLessThan(64 * MB);
      expect(checkpoints.figures('data').rounds).toBeGreaterThan(0);
      expect(told).toEqual([]);
    },
    LONG,
  );

  it(
    'copy all that was written once the writer pauses',
    async () => {
      await start();
      await write(10 * MB);
      await until(() => fileBytes() > 10 * MB);
    },
    LONG,
  );

  it(
    'are completed by the writer after a commit, when it is asked',
    async () => {
      await start({ entry: entryOf(STANDS_STILL) });
      await write(10 * MB);
      // Control: nothing else copies the log.
      expect(fileBytes()).toBeLessThan(1 * MB);
      signals.askForRestart('data');
      await write(100_000);
      await until(() => fileBytes() > 10 * MB);
      // The log starts anew, so its file does not grow further.
      const size = logBytes();
      await write(5 * MB);
      expect(logBytes()).toBe(size);
    },
    LONG,
  );

  it(
    'wait for a reader that stays, report the log once, and its end once',
    async () => {
      await start();
      await write(1 * MB);
      const reader = onDisk();
      reader.exec('BEGIN');
      reader.sql('SELECT count(*) FROM secrets').get();
      await write(80 * MB);
      await until(() => told.length > 0);
      expect(told).toEqual([
        {
          file: 'data',
          bytes: expect.any(Number),
          cause: expect.stringContaining('a reader, perhaps another program'),
        },
      ]);
      reader.exec('COMMIT');
      reader.close();
      await until(() => checkpoints.figures('data').rounds > 0);
      // The log's file is cut when it starts anew.
      for (let n = 0; told.length < 2 && n < 200; n++) {
        await write(100_000);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(told.slice(1)).toEqual([{ file: 'data', bytes: expect.any(Number), cause: undefined }]);
      expect(logBytes()).toBeLessThan(32 * MB);
    },
    LONG,
  );

  it(
    'are made by the writer when their thread stands still, so the log stays bounded',
    async () => {
      await start({ entry: entryOf(STANDS_STILL) });
      await Promise.all([0, 1, 2, 3].map(() => write(60 * MB)));
      expect(checkpoints.figures('data').rounds).toBe(0);
      expect(logBytes()).toBeGreaterThan(32 * MB);
      expect(logBytes()).toBeLessThan(80 * MB);
    },
    LONG,
  );

  it(
    'end the process when their thread ends',
    async () => {
      await start({ entry: entryOf(`${STANDS_STILL} setTimeout(() => process.exit(3), 50);`) });
      await until(() => fatal.length > 0);
      expect(fatal.map(({ message }) => message)).toEqual([
        expect.stringContaining('the checkpoint thread ended with code 3'),
      ]);
    },
    LONG,
  );
});
