import { describe, expect, it } from '@jest/globals';
import { pathOf, pathText } from '#libs/workflows/domain/findings.js';
import { placesIn } from './document.js';

describe('the path of a fault as text', () => {
  it.each([
    [[]],
    [['steps', 1, 'retry', 'max_retries']],
    [['files', 'a/b "c".js']],
    [['steps', 0, 'props', '$auth', 'x-y', '1']],
  ])('is read again: %j', (path) => expect(pathOf(pathText(path))).toEqual(path));

  it('has a place in the file', () =>
    expect(placesIn('steps:\n  - props:\n      "a b": 1\n', [pathOf('steps[0].props["a b"]')])).toEqual([[3, 7]]));
});
