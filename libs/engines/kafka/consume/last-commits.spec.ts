import { describe, expect, it } from '@jest/globals';
import { LastCommits } from './last-commits.js';
import { type Commit } from './offsets.js';

const commit = (partition: number): Commit => ({ topic: 't', partition, next: 1, holder: '' });

describe('the last commits of lanes', () => {
  it('that are given up together go in one write, and later ones in the next', async () => {
    const writes: number[][] = [];
    const last = new LastCommits(async (commits) => void writes.push(commits.map(({ partition }) => partition)));
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => last.add([commit(n)])));
    await last.add([commit(7), commit(8)]);
    expect(writes.map(({ length }) => length)).toEqual([1_000, 2]);
  });

  it('do not wait for a write that is still under way', async () => {
    const writes: (() => void)[] = [];
    const last = new LastCommits(() => new Promise<void>((resolve) => writes.push(resolve)));
    const first = last.add([commit(1)]);
    while (writes.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const second = last.add([commit(2)]);
    while (writes.length === 1) await new Promise((resolve) => setTimeout(resolve, 1));
    writes[1]?.();
    await second;
    writes[0]?.();
    await first;
  });
});
