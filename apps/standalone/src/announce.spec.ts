import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type Config } from '#libs/config/index.js';
import { type JailLevel } from '#libs/sandbox/index.js';
import { type Reconciled } from '#libs/sources/index.js';
import { type Logger } from '#libs/telemetry/index.js';
import { announce } from './announce.js';

afterEach(() => void jest.restoreAllMocks());

const announced = async (reconciled: Reconciled): Promise<{ told: string; logged: Record<string, unknown> }> => {
  let told = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    told += String(text);
    return true;
  });
  const info = jest.fn();
  await announce({
    config: { dataDir: '/data' } as Config,
    publicUrl: 'http://127.0.0.1:3000',
    owner: { userId: 'u_1', workspaceId: 'o_1', key: { status: 'existing' } },
    level: { name: 'jail (bwrap)', warning: null, unavailable: [] } as unknown as JailLevel,
    reconciled,
    logger: { info } as unknown as Logger,
    ms: 100,
  });
  return { told, logged: info.mock.calls[0]?.[0] as Record<string, unknown> };
};

describe('the announcement of a start', () => {
  it('says, when an owner exists and no key is given, which keys are valid and how to replace a lost one', async () => {
    const { told } = await announced({ rolledBack: [], finished: [], deleted: [], released: [] });
    expect(told).toContain('Sluice is ready on http://127.0.0.1:3000');
    expect(told).toContain('described on http://127.0.0.1:3000/v1/docs');
    expect(told).toContain('npm run sluice -- key issue --user owner');
  });

  it('counts interrupted operations that it finished, and leaves zeros out', async () => {
    const { logged } = await announced({ rolledBack: ['dc_1', 'dc_2'], finished: [], deleted: [], released: [] });
    expect(logged).toMatchObject({ url: 'http://127.0.0.1:3000', rolledBack: 2 });
    expect(logged).not.toHaveProperty('deleted');
    expect(logged).not.toHaveProperty('released');
  });
});
