import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { messageOf } from '#libs/kernel/error-message.js';
import { threadData } from './wal-signals.js';
import { Writer } from './writer.js';

const LONG = 60_000;

/** A thread that makes garbage and reports the bytes of its young generation, as the text of a refused start. */
const MAKES_GARBAGE = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { parentPort } from 'node:worker_threads';
  let kept = [];
  for (let at = 0; at < 3_000_000; at++) {
    kept.push({ at, list: [at] });
    if (kept.length > 20_000) kept = [];
  }
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  parentPort.postMessage({ type: 'refused', message: String(young.space_size) });
`;

describe('the writer thread', () => {
  it('has a small young generation, however large that of the process is', async () => {
    const entry = new URL(`data:text/javascript,${encodeURIComponent(MAKES_GARBAGE)}`);
    const large = (): void => setFlagsFromString('--max-semi-space-size=32');
    try {
      large();
      const other = new Worker(entry, { resourceLimits: { maxYoungGenerationSizeMb: 8 } });
      const [{ message }] = (await once(other, 'message')) as [{ readonly message: string }];
      await other.terminate();
      expect(Number(message)).toBeGreaterThan(24 << 20);

      large();
      const refused = await Writer.start(threadData('unused', []), () => undefined, entry).catch(
        (error: unknown) => error,
      );
      expect(Number(messageOf(refused))).toBeLessThan(12 << 20);
    } finally {
      setFlagsFromString('--max-semi-space-size=0');
    }
  });
});

describe('an operation that lingers', () => {
  let dataDir: string;
  let writer: Writer;
  let written: string[];

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'sluice-writer-'));
    written = [];
    writer = await Writer.start(threadData(dataDir, ['data', 'read']), (error) => written.push(error.message));
  });
  afterEach(async () => {
    await writer.close();
    rmSync(dataDir, { recursive: true });
  });

  /** Resolves once the tick of this name is durable. */
  const tick = (name: string, lingerMs = 0): Promise<void> =>
    new Promise((resolve) => {
      const onWritten = (error: Error | undefined): void => {
        written.push(error?.message ?? name);
        resolve();
      };
      writer.send('ticks', [name, 1], onWritten, { lingerMs });
    });

  it('is written with the next one of its file that does not, before it', async () => {
    const both = [tick('a', LONG), tick('b', LONG)];
    await writer.submit('register', { name: 'other.v1', indexed: [], sort: 'at' });
    expect(written).toEqual([]);
    await Promise.all([...both, tick('c')]);
    expect(written).toEqual(['a', 'b', 'c']);
    expect(writer.stats()).toMatchObject({ commits: 2, committedOps: 4 });
  });

  it('is written alone once its time is over, and the next one that lingers has a time of its own', async () => {
    await tick('a', 1);
    await tick('b', 1);
    expect(written).toEqual(['a', 'b']);
    await Promise.all([tick('long', LONG), tick('short', 1)]);
    expect(written).toEqual(['a', 'b', 'long', 'short']);
    expect(writer.stats()).toMatchObject({ commits: 3, committedOps: 4 });
    const last = tick('c', LONG);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(writer.stats().queuedOps).toBe(1);
    await Promise.all([last, tick('d')]);
  });

  it('does not go with the answer to a group that was posted before it', async () => {
    const first = tick('a');
    await new Promise(setImmediate);
    const second = tick('b', LONG);
    await first;
    await writer.submit('register', { name: 'other.v1', indexed: [], sort: 'at' });
    expect(written).toEqual(['a']);
    await Promise.all([second, tick('c')]);
    expect(written).toEqual(['a', 'b', 'c']);
  });

  it('is written when the files are closed', async () => {
    const last = tick('a', LONG);
    await writer.close();
    await last;
    expect(written).toEqual(['a']);
  });
});
