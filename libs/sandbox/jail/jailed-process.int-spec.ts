import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ProcessEnd, JailedProcess } from './jailed-process.js';
import { type JailLevel } from './jail-level.js';

/** Program that sends `count` records of a few bytes at once, and ends. */
const speaker = (count: number): string => `
  const record = (n) => {
    const json = Buffer.from(JSON.stringify([n]));
    const head = Buffer.alloc(12);
    head.writeUInt32LE(n, 0);
    head.writeUInt32LE(json.length, 4);
    return Buffer.concat([head, json]);
  };
  const all = Buffer.concat(Array.from({ length: ${count} }, (_, n) => record(n)));
  for (let at = 0; at < all.length; ) at += require('node:fs').writeSync(4, all, at);
`;

const unjailed = (code: string): JailLevel => ({
  name: 'process',
  warning: null,
  unavailable: [],
  plan: () => ({
    file: process.execPath,
    args: ['-e', code],
    cwd: tmpdir(),
    uid: null,
    egress: null,
    tmp: tmpdir(),
    reads: [],
  }),
});

interface Heard {
  readonly indexes: number[];
  readonly mostInOneTurn: number;
  readonly end: ProcessEnd;
}

const listen = async (count: number, onRecord: (child: JailedProcess) => void): Promise<Heard> => {
  const privateDir = mkdtempSync(path.join(tmpdir(), 'jailed-process-'));
  const indexes: number[] = [];
  let [inTurn, mostInOneTurn] = [0, 0];
  const child = new JailedProcess(
    unjailed(speaker(count)),
    { childFile: '', privateDir, memoryMb: 64, tmpMb: 1, uid: null },
    {
      onRecord({ index }) {
        indexes.push(index);
        if (inTurn++ === 0) setImmediate(() => (inTurn = 0));
        mostInOneTurn = Math.max(mostInOneTurn, inTurn);
        onRecord(child);
      },
      onRead: () => undefined,
      onBreach: (breach) => {
        throw breach;
      },
    },
  );
  const end = await child.ended;
  rmSync(privateDir, { recursive: true });
  return { indexes, mostInOneTurn, end };
};

describe('a burst of records of a process', () => {
  const all = Array.from({ length: 20_000 }, (_, n) => n);

  it('is read in order and completely, a bounded number of records per turn of the event loop', async () => {
    const { indexes, mostInOneTurn, end } = await listen(all.length, () => undefined);
    expect(end).toMatchObject({ exitCode: 0, stderr: '' });
    expect(indexes).toEqual(all);
    // The limit is 256. It can count twice, when the next turn of the process precedes that of the counter.
    expect(mostInOneTurn).toBeLessThanOrEqual(512);
  });

  it('is read completely even when reading was paused, or the process killed', async () => {
    let count = 0;
    const paused = await listen(all.length, (child) => {
      if (++count !== 1_000) return;
      child.pauseReading();
      setTimeout(() => child.resumeReading(), 50);
    });
    expect(paused.indexes).toEqual(all);
    const killed = await listen(all.length, (child) => child.kill());
    expect(killed.indexes).toEqual(all.slice(0, killed.indexes.length));
    expect(killed.indexes.length).toBeGreaterThan(256);
  });
});
