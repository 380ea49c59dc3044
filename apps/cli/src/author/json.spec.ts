import { describe, expect, it } from '@jest/globals';
import { exactLine, exactly, isFields, jsonLine, textOf } from './json.js';

describe('JSON of a server', () => {
  it('keeps the digits of its numbers', () => {
    const text = '{"id":3544790567247868102,"price":1.0,"small":1e-7,"zero":-0,"plain":20,"list":[0.1,null,true]}';
    const value = exactly(text);
    expect(jsonLine(value)).toBe(text);
    expect(exactLine(value)).toBe(text);
    expect(isFields(value) && value['plain']).toBe(20);
    expect(isFields(value) && textOf(value['id'])).toBe('3544790567247868102');
    expect(isFields(value) && isFields(value['id'])).toBe(false);
  });

  it('acts on no terminal', () => {
    expect(jsonLine({ text: '\u009b\u001b' })).toBe(String.raw`{"text":"\u009b\u001b"}`);
  });
});
