import { describe, expect, it } from '@jest/globals';
import { causeOf, errorOfKilled } from './process-end.js';

describe('the error of a run whose process ended', () => {
  const run = (beside: boolean) => ({ invocationId: 'inv_1', timeoutMs: 1_500, beside, ranFor: () => 1_501 });
  const timeout = { code: 'Timeout', text: 'x' };

  it.each([
    ['run', false, 'SLUICE_RUN_TIMEOUT_S'],
    ['hook', true, 'SLUICE_HOOK_TIMEOUT_S'],
  ])('names the time limit of a %s, and the setting that raises it', (what, beside, setting) => {
    const culprit = run(beside);
    expect(errorOfKilled(culprit, timeout, culprit, 0).message).toBe(
      `the ${what} took longer than its limit of 1500 ms: make it faster, or raise ${setting}`,
    );
  });

  it('names the memory limit, and the setting that raises it', () => {
    const end = { exitCode: null, signal: 'SIGKILL' as const, outOfMemory: true, stderr: '', spilled: Buffer.alloc(0) };
    expect(causeOf(end, 64).text).toBe(
      'the process needed more memory than allowed (heap limit 64 MB): keep less in memory, or raise SLUICE_MEMORY_MB',
    );
  });
});
