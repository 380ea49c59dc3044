import { afterEach, describe, expect, it } from '@jest/globals';
import { fileHint, writesIn } from './file-hint.js';

const hintFor = (path: string): string =>
  fileHint({ code: 'ERR_ACCESS_DENIED', resource: path }, (value, key) => (value as Record<string, unknown>)[key]);

describe('the hint of a refused file', () => {
  afterEach(() => writesIn('/tmp', 0));

  it('names /tmp in a jail', () => {
    writesIn('/tmp', 128);
    expect(hintFor('/etc/x')).toContain('only below /tmp, which holds at most 128 MB');
    expect(hintFor('/tmp/x')).toBe('');
  });

  it('names os.tmpdir() without a jail, where /tmp itself is refused', () => {
    writesIn('/var/folders/7', 128);
    expect(hintFor('/tmp/x')).toContain('only below os.tmpdir(), which');
    expect(hintFor('/var/folders/7/x')).toBe('');
  });
});
