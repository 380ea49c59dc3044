import { describe, expect, it } from '@jest/globals';
import { truncateEvent, truncateJson } from './truncate-event.js';
import { pruneJson } from './prune-json.js';

const MAX = 1024;
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value);

/** Small seeded generator, so that a failure can be repeated. */
const random = (seed: number) => (): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

const CHARS = ['a', 'Z', ' ', '"', '\\', '\n', '\u0000', 'é', '漢', '😀', '👩‍👩‍👧', '\u2028', '…', '\ud800', '\udc00'];

const valueOf = (next: () => number, depth: number): unknown => {
  const int = (below: number): number => Math.floor(next() * below);
  const text = (max: number): string => Array.from({ length: int(max) }, () => CHARS[int(CHARS.length)]).join('');
  switch (int(depth > 5 ? 5 : 8)) {
    case 0:
      return null;
    case 1:
      return next() < 0.5;
    case 2:
      return (next() - 0.5) * 10 ** int(30);
    case 3:
      return text(20);
    case 4:
      return text(3_000);
    case 5:
      return Array.from({ length: int(60) }, () => valueOf(next, depth + 1));
    default: {
      const keys = Array.from({ length: int(40) }, () => (next() < 0.05 ? '__proto__' : text(next() < 0.1 ? 600 : 12)));
      const object: Record<string, unknown> = {};
      for (const key of keys) {
        const value = valueOf(next, depth + 1);
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      }
      return object;
    }
  }
};

/** Checks that `whole` has every part of `cut` in the same place. Shortened texts must end with the mark. */
const isPartOf = (cut: unknown, whole: unknown): boolean => {
  if (typeof cut === 'string') {
    return typeof whole === 'string' && (cut === whole || (cut.endsWith('…') && whole.startsWith(cut.slice(0, -1))));
  }
  if (typeof cut !== 'object' || cut === null) return Object.is(cut, whole);
  if (kindOf(cut) !== kindOf(whole)) return false;
  if (Array.isArray(cut)) return isSubsequence(cut, whole as unknown[]);
  const parts = Object.getOwnPropertyDescriptors(whole as object);
  return Object.entries(cut).every(([key, value]) => isPartOf(value, parts[key]?.value));
};

const isSubsequence = (cut: unknown[], whole: unknown[]): boolean => {
  let at = 0;
  return cut.every((value) => {
    while (at < whole.length && !isPartOf(value, whole[at])) at++;
    return at++ < whole.length;
  });
};

describe('truncateEvent', () => {
  it.each([[null], [0], [true], ['short'], [{}], [[]], [{ a: [1, 2, { b: 'c' }] }]])('leaves %j unchanged', (value) => {
    expect(truncateEvent(value, MAX)).toEqual({ value, truncated: false });
    expect(truncateEvent(value, MAX).value).toBe(value);
  });

  it('leaves a value of exactly the limit unchanged', () => {
    expect(truncateEvent('x'.repeat(MAX - 2), MAX).truncated).toBe(false);
    expect(truncateEvent('x'.repeat(MAX - 1), MAX).truncated).toBe(true);
  });

  it('makes valid JSON of at most 1,024 bytes, the same type and parts of the original', () => {
    for (let seed = 1; seed <= 600; seed++) {
      // Pass the value through JSON, as the log does.
      const whole: unknown = JSON.parse(JSON.stringify(valueOf(random(seed), 0)));
      const { value, truncated } = truncateEvent(whole, MAX);
      const label = `seed ${seed}`;
      expect([label, truncated]).toEqual([label, sizeOf(whole) > MAX]);
      expect([label, kindOf(value)]).toEqual([label, kindOf(whole)]);
      expect([label, sizeOf(value) <= MAX]).toEqual([label, true]);
      expect([label, isPartOf(value, whole)]).toEqual([label, true]);
      expect(JSON.parse(JSON.stringify(value))).toEqual(value);
    }
  });

  it.each([32, 33, 64, 200])('does so for other limits: %i', (max) => {
    for (let seed = 1; seed <= 200; seed++) {
      const whole: unknown = JSON.parse(JSON.stringify(valueOf(random(seed), 0)));
      const { value } = truncateEvent(whole, max);
      expect([seed, sizeOf(value) <= max, kindOf(value)]).toEqual([seed, true, kindOf(whole)]);
    }
  });

  it('cuts a text at the last byte that fits with the mark, never within a character', () => {
    const plain = truncateEvent('a'.repeat(5_000), MAX).value;
    expect(plain).toBe(`${'a'.repeat(MAX - 5)}…`);
    const emoji = truncateEvent('😀'.repeat(2_000), MAX).value as string;
    expect(emoji).toMatch(/^(?:😀)+…$/u);
    expect(sizeOf(emoji)).toBeGreaterThan(MAX - 4);
    const escaped = truncateEvent('\u0000'.repeat(2_000), MAX).value as string;
    expect(sizeOf(escaped)).toBeGreaterThan(MAX - 6);
  });

  it('works breadth-first, keeping the top and dropping the deepest values first', () => {
    const deep = { list: Array.from({ length: 500 }, (_, i) => ({ i, text: 'y'.repeat(50) })) };
    const { value } = truncateEvent({ deep, id: 7, name: 'order', ok: true }, MAX);
    expect(value).toMatchObject({ id: 7, name: 'order', ok: true, deep: { list: expect.any(Array) } });
  });

  it('cuts the long text and keeps its short neighbours', () => {
    const event = { body: 'x'.repeat(10_000), method: 'POST', path: '/hook', headers: { host: 'example.com' } };
    const { value } = truncateEvent(event, MAX);
    expect(value).toMatchObject({ method: 'POST', path: '/hook', headers: { host: 'example.com' } });
    expect((value as typeof event).body).toMatch(/^x{700,}…$/);
  });

  it('keeps __proto__ as an ordinary key', () => {
    const event = JSON.parse(`{"__proto__":{"a":1},"long":"${'z'.repeat(3_000)}"}`) as object;
    const { value } = truncateEvent(event, MAX);
    expect(JSON.stringify(value)).toMatch(/^\{"__proto__":\{"a":1\},"long":"z+…"\}$/);
  });

  it('leaves out a key that does not fit', () => {
    const { value } = truncateEvent({ ['k'.repeat(2_000)]: 1, short: 2 }, MAX);
    expect(value).toEqual({ short: 2 });
  });
});

describe('truncateJson', () => {
  it('shortens a text as truncateEvent shortens its value, for values of every shape', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const text = JSON.stringify(valueOf(random(seed), 0));
      const expected = truncateEvent(JSON.parse(text), MAX);
      const short = truncateJson(text, MAX);
      expect(Buffer.byteLength(short.text)).toBeLessThanOrEqual(MAX);
      expect(short.truncated).toBe(expected.truncated);
      expect(isPartOf(JSON.parse(short.text), JSON.parse(text))).toBe(true);
      if (!expected.truncated) expect(short.text).toBe(text);
    }
  });

  it.each([
    ['a long text', 'x'.repeat(6_000_000)],
    ['escapes up to the cut', '\n"\\\u0001'.repeat(500_000)],
    ['numbers', Array.from({ length: 1_000_000 }, (_, i) => i)],
    ['one long text after another', Array.from({ length: 200 }, (_, i) => `${i}${'y'.repeat(30_000)}`)],
    [
      'objects in objects',
      Array.from({ length: 50_000 }, (_, i) => ({ id: i, tags: ['a', { b: [i] }], text: 'some text' })),
    ],
    ['many names', Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`name-${i}`, i]))],
  ])('parses a small part of a large event: %s', (_name, value) => {
    const text = JSON.stringify(value);
    expect(text.length).toBeGreaterThan(2_500_000);
    const pruned = pruneJson(text);
    expect(pruned.length).toBeLessThan(text.length / 4);
    const short = truncateJson(text, MAX);
    expect(short).toEqual({ text: JSON.stringify(truncateEvent(value, MAX).value), truncated: true });
  });

  it('reads JSON with white space, and stops at the end of a text that is not JSON', () => {
    const spaced = JSON.stringify({ a: [1, { b: 'c' }], d: 'e'.repeat(2_000) }, null, 2);
    expect(JSON.parse(truncateJson(spaced, MAX).text)).toMatchObject({ a: [1, { b: 'c' }] });
    for (const broken of ['[', '{"a"', '{"a":', '["', '"\\', '[1,,', '{,}', ']', '']) pruneJson(broken);
  });
});
