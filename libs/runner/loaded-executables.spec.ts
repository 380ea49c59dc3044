import { describe, expect, it } from '@jest/globals';
import { type ExecutableRunner, LoadedExecutables } from './loaded-executables.js';

const opened = (load: () => Promise<ExecutableRunner>) => {
  const happened: string[] = [];
  const executables = new LoadedExecutables({
    load,
    endProcess: async () => undefined,
    onReleased: async (id) => void happened.push(`released ${id}`),
    metrics: { platformFailure: () => undefined },
    logger: { warn: () => undefined, error: () => undefined },
  });
  return { executables, happened };
};

describe('an executable that this process leaves to another', () => {
  it('is reported once its runner writes no more', async () => {
    const closed: string[] = [];
    const runner: ExecutableRunner = {
      isClosed: () => false,
      retire: () => false,
      accept: async () => true,
      close: async () => void closed.push('closed'),
    };
    const { executables, happened } = opened(async () => runner);
    await executables.get('p_1');
    const released = executables.release('p_1');
    expect(happened).toEqual([]);
    await released;
    expect([closed, happened]).toEqual([['closed'], ['released p_1']]);
    await executables.release('p_1');
    expect(happened).toEqual(['released p_1']);
  });

  it('is not reported when it was never loaded', async () => {
    const { executables, happened } = opened(() => Promise.reject(new Error('unreadable')));
    await expect(executables.get('p_1')).rejects.toThrow('unreadable');
    await executables.release('p_1');
    expect(happened).toEqual([]);
  });
});
