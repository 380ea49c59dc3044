import { describe, expect, it } from '@jest/globals';
import { jsonParts, RawJson, rawChars } from './raw-json.js';

describe('RawJson', () => {
  const raw = new RawJson('{ "spaced" : [1,  2] }');

  it('is written unchanged, and all other values as JSON.stringify does', () => {
    const plain = { a: [1, null, 'ü"\u2028', { b: {} }, []], c: undefined, d: true, ['__proto__x']: 1.5 };
    expect([...jsonParts(plain)].join('')).toBe(JSON.stringify(plain));
    const text = [...jsonParts({ data: [{ event: raw, id: 'x' }] })].join('');
    expect(text).toBe('{"data":[{"event":{ "spaced" : [1,  2] },"id":"x"}]}');
    expect([...jsonParts([undefined, raw])]).toContain(raw.text);
  });

  it('is found in the fields of list items', () => {
    expect(rawChars({ data: [{ id: 1 }, { event: raw }, { event: raw }] })).toBe(2 * raw.text.length);
    expect(rawChars({ data: { event: raw } })).toBe(raw.text.length);
    expect(rawChars({ data: { id: 1, emits: [{ event: raw }, 2], logs: [] } })).toBe(raw.text.length);
    expect([rawChars({ data: [{ id: 1 }, null, 3] }), rawChars({})]).toEqual([undefined, undefined]);
  });
});
