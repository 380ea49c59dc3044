import { describe, expect, it } from '@jest/globals';
import { SecretMask } from './secret-mask.js';
import { ok } from '../source/testing/fake-sandbox.js';

describe('a mask of secrets', () => {
  const mask = new SecretMask(['s3cret', 's3cret-longer', 'a"b&c', 'abc', '1234']);

  it('covers a secret in plain text, JSON and URLs, and a longer secret as a whole', () => {
    expect(mask.text('s3cret s3cret-longer!')).toBe('******** ********!');
    expect(mask.text(JSON.stringify({ k: 'a"b&c' }))).toBe('{"k":"********"}');
    expect(mask.text(`?q=${encodeURIComponent('a"b&c')}`)).toBe('?q=********');
  });

  it('leaves secrets shorter than four characters, and texts without secrets', () => {
    expect(mask.text('abc plain')).toBe('abc plain');
  });

  it('covers logs and error of an outcome, but not its emits', () => {
    const error = { name: 's3cret', message: 'is s3cret', stack: 'at s3cret', code: 's3cret' };
    const emits = [{ payload: '"s3cret"', channel: '' }];
    expect(mask.outcome(ok({ emits, logs: [{ k: 'console.log', ts: 1, msg: 'x s3cret' }], error }))).toMatchObject({
      emits,
      logs: [{ msg: 'x ********' }],
      error: { name: '********', message: 'is ********', stack: 'at ********', code: '********' },
    });
  });

  it('covers causes, parts and the place of an error', () => {
    const part = { name: 'E', message: 's3cret', stack: 's3cret', code: 'E' };
    const place = { file: 's3cret.ts', line: 1, column: 1 };
    const error = { ...part, cause: { ...part, cause: part }, errors: [part, { ...part, errors: [part] }], place };
    const masked = mask.outcome(ok({ error })).error;
    expect(JSON.stringify(masked)).not.toContain('s3cret');
    expect(masked).toMatchObject({
      cause: { cause: { message: '********' } },
      errors: [{}, { errors: [{}] }],
      place: { line: 1 },
    });
  });

  it('covers texts and keys of JSON, but not its numbers', () => {
    const json = JSON.stringify({ n: 12345, s: 'a 1234', deep: [{ s3cret: ['s3cret'] }] });
    expect(JSON.parse(mask.json(json))).toEqual({ n: 12345, s: 'a ********', deep: [{ '********': ['********'] }] });
    const plain = '{"a" : 1}';
    expect(mask.json(plain)).toBe(plain);
  });

  it('accepts half a surrogate pair in a secret', () => {
    expect(new SecretMask(['abcd\ud800']).text('x')).toBe('x');
  });

  it('masks secrets that overlap, and a long one as far as the text matches it', () => {
    const long = `-----KEY-----${'x'.repeat(200)}`;
    const mask = new SecretMask(['abcdef', 'defghi', long, `${long}yz`]);
    expect(mask.text('1 abcdefghi 2 abcdefabcdef 3')).toBe('1 ******** 2 **************** 3');
    expect(mask.text(`<${long}> <${long}yz> <${long}y> <${long.slice(0, 150)}>`)).toBe(
      '<********> <********> <********> <********>',
    );
    expect(mask.text(`<${long.slice(0, 50)}>`)).toBe(`<${long.slice(0, 50)}>`);
  });

  it('leaves no secret in any text', () => {
    let seed = 3;
    const next = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
    const word = (length: number): string => Array.from({ length }, () => 'ab'[next(7) % 2] ?? '').join('');
    for (let round = 0; round < 200; round++) {
      const secrets = Array.from({ length: 1 + next(12) }, () => word(4 + next(100)));
      const text = Array.from({ length: 20 }, () => (next(2) ? word(next(20)) : secrets[next(secrets.length)])).join(
        '',
      );
      const masked = new SecretMask(secrets).text(text);
      for (const secret of secrets) expect(masked).not.toContain(secret);
      const others = text.replaceAll(/[ab]/g, 'c');
      expect(new SecretMask(secrets).text(others)).toBe(others);
    }
  });

  // A search for each secret would compare 300 secrets of 6,000 letters at a million places.
  it('takes one pass over a text, however many secrets begin like it', () => {
    const mask = new SecretMask(Array.from({ length: 300 }, (_, n) => `${'a'.repeat(6_000)}${n}`));
    expect(mask.text('a'.repeat(1_000_000))).toBe('********');
    for (const part of ['b', `${'a'.repeat(63)}b`]) {
      const text = part.repeat(Math.floor(1_000_000 / part.length));
      expect(mask.text(text) === text).toBe(true);
    }
  });

  it('covers shorter starts of very many secrets', () => {
    const mask = new SecretMask(Array.from({ length: 20_000 }, (_, n) => `${n}`.padStart(30, 'x')));
    expect(mask.text(`<${'15'.padStart(30, 'x')}> <${'x'.repeat(12)}>`)).toBe('<********> <xxxxxxxxxxxx>');
    expect(mask.text(`<${'x'.repeat(13)}>`)).toBe('<********>');
  });
});
