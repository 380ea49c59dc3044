import { describe, expect, it } from '@jest/globals';
import { detectIsolation, IsolationUnavailable } from './detect.js';
import { type JailLevel, type JailName } from './jail-level.js';

const plan: JailLevel['plan'] = () => ({
  file: '',
  args: [],
  cwd: '/',
  uid: null,
  egress: null,
  tmp: '/tmp',
  reads: [],
});

/** Simulates a machine on which only these levels run. */
const machine = (...levels: JailName[]) => {
  const tried: JailName[] = [];
  return {
    tried,
    tryOne: (name: JailName): Promise<JailLevel | string> => {
      tried.push(name);
      return Promise.resolve(
        levels.includes(name) ? { name, warning: null, unavailable: [], plan } : `no ${name} here`,
      );
    },
  };
};

describe('the level of isolation', () => {
  it('is the strongest that runs, by default', async () => {
    const all = machine('jail (bwrap)', 'jail (unshare)', 'process');
    expect((await detectIsolation('auto', all.tryOne)).name).toBe('jail (bwrap)');
    expect(all.tried).toEqual(['jail (bwrap)']);
    const weak = await detectIsolation('auto', machine('process').tryOne);
    expect(weak).toMatchObject({
      name: 'process',
      unavailable: ['jail (bwrap): no jail (bwrap) here', 'jail (unshare): no jail (unshare) here'],
    });
  });

  it('is a jail or an error that says what to install, when a jail is requested', async () => {
    expect((await detectIsolation('jail', machine('jail (unshare)', 'process').tryOne)).name).toBe('jail (unshare)');
    const refused = detectIsolation('jail', machine('process').tryOne);
    await expect(refused).rejects.toBeInstanceOf(IsolationUnavailable);
    await expect(refused).rejects.toThrow(/SLUICE_ISOLATION=jail .*no jail \(bwrap\) here.*Install bubblewrap/);
  });

  it.each([
    ['bwrap', 'jail (bwrap)'],
    ['unshare', 'jail (unshare)'],
  ] as const)('is %s or nothing when that one is pinned', async (setting, name) => {
    const all = machine('jail (bwrap)', 'jail (unshare)', 'process');
    expect((await detectIsolation(setting, all.tryOne)).name).toBe(name);
    expect(all.tried).toEqual([name]);
    const others = (['jail (bwrap)', 'jail (unshare)', 'process'] as const).filter((other) => other !== name);
    const without = machine(...others);
    await expect(detectIsolation(setting, without.tryOne)).rejects.toThrow(
      `SLUICE_ISOLATION=${setting} is not available`,
    );
    expect(without.tried).toEqual([name]);
  });

  it('is a process only when requested', async () => {
    const all = machine('jail (bwrap)', 'process');
    expect((await detectIsolation('process', all.tryOne)).name).toBe('process');
    expect(all.tried).toEqual(['process']);
  });
});
