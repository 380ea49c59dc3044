import { describe, expect, it } from '@jest/globals';
import stringWidth from 'string-width';
import { fitted } from './events.js';
import { printed } from './text.js';

describe('a line of an event', () => {
  it.each([
    ['日本語日本語', '日本語日本語  {"n"…'],
    ['👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', '👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧  {"n"…'],
    ['日本語日本語日本語', '日本語日本語日本語…'],
    ['Zoe\u0301', 'Zoe\u0301  {"n":1,"text"…'],
  ])('is cut by the columns that %s takes', (summary, shown) => {
    const look = { colours: false, columns: 19 };
    const line = printed(fitted([{ text: summary, as: 'strong' }, '  ', '{"n":1,"text":"x"}'], 19), look);
    expect(line).toBe(shown);
    expect(stringWidth(line)).toBeLessThanOrEqual(19);
  });
});
