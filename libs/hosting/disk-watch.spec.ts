import { describe, expect, it } from '@jest/globals';
import { DiskWatch } from './disk-watch.js';

const MB = 1024 * 1024;

describe('the disk watch', () => {
  it('refuses below the floor, names the free space, and accepts again when there is room', async () => {
    let free = 64 * MB;
    let looks = 0;
    const failures: unknown[] = [];
    const freeBytes = async (): Promise<number> => {
      looks++;
      if (free < 0) throw new Error('no such device');
      return free;
    };
    const onFailure = (error: unknown): void => void failures.push(error);
    const watch = await DiskWatch.start({
      dir: '/secret/place',
      floorBytes: 64 * MB,
      onFailure,
      freeBytes,
      everyMs: 1,
    });
    const look = async (): Promise<void> => {
      const before = looks;
      while (looks < before + 2) await new Promise<void>((resolve) => setTimeout(resolve, 1));
    };
    expect([watch.isFull(), watch.problem(), watch.refusal(), watch.error()]).toEqual([
      false,
      undefined,
      undefined,
      undefined,
    ]);
    free = 12.7 * MB;
    await look();
    expect(watch.problem()).toBe('disk full: 12 MB are free for the data directory, below the floor of 64 MB');
    expect(watch.refusal()).toMatchObject({ status: 503, code: 'storage_full', retryAfterS: 10 });
    expect(watch.error()).toMatchObject({ code: 'platform.storage_full' });
    // A failed check keeps the last known value.
    free = -1;
    await look();
    expect([watch.isFull(), failures.length > 0]).toEqual([true, true]);
    free = 65 * MB;
    await look();
    expect(watch.isFull()).toBe(false);
    await watch.close();
    const after = looks;
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
    expect(looks).toBe(after);
  });

  it('asks the file system', async () => {
    const watch = await DiskWatch.start({ dir: '/', floorBytes: Number.MAX_SAFE_INTEGER, onFailure: () => undefined });
    expect(watch.problem()).toMatch(/^disk full: \d+ MB are free/);
    await watch.close();
  });
});
