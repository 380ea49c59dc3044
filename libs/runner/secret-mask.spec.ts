import { describe, expect, it } from '@jest/globals';
import { SecretMask } from './secret-mask.js';
import { ok } from './testing/fake-sandbox.js';

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
});
