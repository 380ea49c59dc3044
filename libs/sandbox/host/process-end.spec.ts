import { describe, expect, it } from '@jest/globals';
import { causeOf, errorOfKilled, type Work } from './process-end.js';

describe('the error of a run whose process ended', () => {
  const run = (work: Work) => ({ invocationId: 'inv_1', timeoutMs: 1_500, work, ranFor: () => 1_501 });
  const timeout = { code: 'Timeout', text: 'x' };

  it.each([
    ['run', 'the run', ', or raise SLUICE_RUN_TIMEOUT_S'],
    ['hook', 'the hook', ', or raise SLUICE_HOOK_TIMEOUT_S'],
    ['action', 'the action', ', or raise SLUICE_RUN_TIMEOUT_S'],
    ['options', 'options of the prop', ''],
    ['additional_props', 'additionalProps', ''],
    ['event_names', 'eventNames of the prop', ''],
  ] as const)('names the time limit of its work, %s, and the setting that raises it', (work, what, remedy) => {
    const culprit = run(work);
    expect(errorOfKilled(culprit, { cause: timeout, culprit, at: 0 }).message).toBe(
      `${what} took longer than its limit of 1500 ms: make it faster${remedy}`,
    );
  });

  it('names the memory limit, and the setting that raises it', () => {
    const end = { exitCode: null, signal: 'SIGKILL' as const, outOfMemory: true, stderr: '', spilled: Buffer.alloc(0) };
    const told = (setting: string): string =>
      `the process needed more memory than allowed (heap limit 64 MB): keep less in memory, or raise ${setting}`;
    expect(causeOf(end, { memoryMb: 64 }).text).toBe(told('SLUICE_MEMORY_MB'));
    expect(causeOf(end, { memoryMb: 64, setting: 'memory_mb' }).text).toBe(told('memory_mb'));
  });
});
