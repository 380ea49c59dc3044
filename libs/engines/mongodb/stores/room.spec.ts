import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Room, type Used, type Wanted } from './room.js';

/** Documents whose writes end late. Their sums take time to read and lack writes made in the meantime. */
class SlowStore {
  readonly keys = new Set<string>();
  readonly room = new Room(
    { keys: 50, storeBytes: 1_000, workspaceBytes: 1_500, keyBytes: 10, valueBytes: 10 } as never,
    () => this.read(),
  );

  set(key: string, bytes = 1): Promise<'written' | 'refused'> {
    const wanted: Wanted = { storeId: 'ds', keys: 1, bytes };
    const exactly = async (): Promise<Wanted> => {
      await pause();
      return this.keys.has(key) ? { ...wanted, keys: 0, bytes: 0 } : wanted;
    };
    const write = async (): Promise<'written'> => {
      await pause();
      this.keys.add(key);
      return 'written';
    };
    return this.room.during('o_1', wanted, exactly, write).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'data_store.full' });
      return 'refused';
    });
  }

  private async read(): Promise<Map<string, Used>> {
    const keys = this.keys.size;
    await pause();
    return new Map([['ds', { keys, bytes: keys }]]);
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300));

describe('Room', () => {
  let store: SlowStore;
  beforeEach(() => {
    jest.useFakeTimers({ advanceTimers: 50 });
    store = new SlowStore();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('counts writes in flight while sums are read again, so that a store never holds more than its limit', async () => {
    const writes: Promise<string>[] = [];
    for (let i = 0; i < 120; i++) {
      writes.push(store.set(`k${i}`));
      await jest.advanceTimersByTimeAsync(40);
    }
    await jest.runAllTimersAsync();
    const ended = await Promise.all(writes);
    expect(store.keys.size).toBe(50);
    expect(ended.filter((each) => each === 'written')).toHaveLength(50);
  });

  it('refuses no write that fits, although it was counted twice', async () => {
    const writes = Array.from({ length: 50 }, (_, i) => store.set(`k${i}`));
    await jest.advanceTimersByTimeAsync(1_001);
    writes.push(store.set('k0'), store.set('k1'));
    await jest.runAllTimersAsync();
    expect(await Promise.all(writes)).not.toContain('refused');
    expect(store.keys.size).toBe(50);
  });

  it('makes room again when a write failed', async () => {
    const wanted: Wanted = { storeId: 'ds', keys: 1, bytes: 1 };
    const lost = store.room.during(
      'o_1',
      wanted,
      () => Promise.resolve(wanted),
      () => Promise.reject(new Error('lost')),
    );
    const told = expect(lost).rejects.toThrow('lost');
    await jest.runAllTimersAsync();
    await told;
    const writes = Array.from({ length: 50 }, (_, i) => store.set(`k${i}`));
    await jest.runAllTimersAsync();
    expect(await Promise.all(writes)).not.toContain('refused');
  });
});
