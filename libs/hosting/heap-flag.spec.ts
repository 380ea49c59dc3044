import { describe, expect, it } from '@jest/globals';
import { heapAtStart, heapWarning } from './heap-flag.js';

const warned = (heapMb: number | null, execArgv: string[], NODE_OPTIONS?: string): string | undefined =>
  heapWarning(heapMb, { execArgv, env: NODE_OPTIONS === undefined ? {} : { NODE_OPTIONS } });

describe('the setting of the heap', () => {
  it('is in force where Node was started with it', () => {
    expect(warned(300, ['--enable-source-maps', '--max-old-space-size=300'])).toBeUndefined();
    expect(warned(300, [], '--no-warnings --max_old_space_size=300')).toBeUndefined();
    expect(warned(300, ['--max-old-space-size=300'], '--max-old-space-size=4096')).toBeUndefined();
    expect(warned(null, ['--max-old-space-size=300'])).toBeUndefined();
  });

  it('is a warning elsewhere, which says how to set it', () => {
    expect(warned(300, [])).toMatch(
      /^SLUICE_HEAP_MB is 300 and has no effect, .* without --max-old-space-size, so its heap may have \d+ MB: .*not in \.env/,
    );
    expect(warned(300, ['--max-old-space-size=1920'])).toMatch(
      /with --max-old-space-size=1920: .*start Node with --max-old-space-size=300$/,
    );
  });

  it('is shown as a server would get it', () => {
    expect(heapAtStart(null, true)).toBe('1920  (default)');
    expect(heapAtStart(300, true)).toBe('300');
    expect(heapAtStart(300, false)).toBe('1920  (default; 300 in .env has no effect)');
  });
});
