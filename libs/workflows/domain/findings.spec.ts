import { describe, expect, it } from '@jest/globals';
import { type Path, pathOf, pathText } from './findings.js';

// docs/reference/workflows.md#errors
describe('the text of a path', () => {
  it.each<[text: string, path: Path]>([
    ['', []],
    ['steps[1].retry.max_retries', ['steps', 1, 'retry', 'max_retries']],
    ['steps[0].props["no such"]', ['steps', 0, 'props', 'no such']],
    ['steps[0].props["a\\"].b[1]"].c', ['steps', 0, 'props', 'a"].b[1]', 'c']],
  ])('%s is read as it was written', (text, path) => {
    expect(pathText(path)).toBe(text);
    expect(pathOf(text)).toEqual(path);
  });
});
