import { describe, expect, it } from '@jest/globals';
import { HEADER_CHARACTERS_KEPT, HEADERS_KEPT, keptHeaders } from './answer-headers.js';

// docs/reference/limits.md#answer-headers-kept
describe('the headers that are kept of an answer', () => {
  it('are texts, and no cookies', () => {
    const headers = { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'], via: undefined, 'x-a': 'é' };
    expect(keptHeaders(headers)).toEqual({ 'content-type': 'text/plain', 'set-cookie': '********', 'x-a': 'é' });
  });

  it('are the first ones, as many as fit', () => {
    const many = Object.fromEntries(Array.from({ length: HEADERS_KEPT + 1 }, (_, n) => [`x-${n}`, '']));
    expect(Object.keys(keptHeaders(many))).toHaveLength(HEADERS_KEPT);
    const half = 'x'.repeat(HEADER_CHARACTERS_KEPT / 2);
    expect(Object.keys(keptHeaders({ 'x-a': half, 'x-b': half, 'x-c': '' }))).toEqual(['x-a']);
  });

  it('keep the name __proto__ as any other', () => {
    expect(Object.entries(keptHeaders(JSON.parse('{"__proto__":"a"}') as Record<string, string>))).toEqual([
      ['__proto__', 'a'],
    ]);
  });
});
