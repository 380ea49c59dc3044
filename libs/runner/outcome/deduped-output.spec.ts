import { describe, expect, it } from '@jest/globals';
import { dedupedOutput } from './deduped-output.js';

const emit = (id: string, ts?: number) => ({
  payload: `"${id}"`,
  channel: '',
  id,
  ...(ts === undefined ? {} : { ts }),
});
const NOW = 1_000;

describe('the output of a run', () => {
  it('tells the emits that deduplication dropped, and says how many in a line', () => {
    const [newer, older, again] = [emit('b', 20), emit('a', 10), emit('a', 30)];
    const output = dedupedOutput(
      { emits: [newer, older, again], logs: [], endedAt: NOW },
      { strategy: 'unique', caches: {} },
    );
    expect(output.passed).toEqual([older, newer]);
    expect(output.dropped).toEqual([again]);
    expect(output.lines).toEqual([{ k: 'dedupe', ts: NOW, msg: '1 duplicate event(s) dropped' }]);
  });

  it('drops nothing without a strategy', () => {
    const emits = [emit('a'), emit('a')];
    const output = dedupedOutput({ emits, logs: [], endedAt: NOW }, { strategy: null, caches: {} });
    expect(output).toMatchObject({ passed: emits, dropped: [], lines: [], duplicates: 0 });
  });
});
