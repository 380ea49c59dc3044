import { describe, expect, it } from '@jest/globals';
import { objectMessage } from './object-message.js';

const AT = Date.parse('2026-03-09T23:59:59.999Z');
const keyOf = (prefix: string, id = 'snd_1', at = AT): string =>
  objectMessage({ bucket: 'b', prefix, payload: '{"a":1}' }, id, at).key;

// docs/reference/workflows.md#send-s3
describe('the object of $.send.s3', () => {
  it('has a key of prefix, day and message, and the payload', () => {
    const key = expect.stringMatching(
      /^a\/b\/2026\/03\/09\/[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json$/,
    );
    const sent = { bucket: 'b', prefix: 'a/b', payload: '{"a":1}' };
    expect(objectMessage(sent, 'snd_1', AT)).toEqual({ kind: 's3', bucket: 'b', key, payload: '{"a":1}' });
  });

  it('is the same for a repeat, and another for another message', () => {
    expect(keyOf('a')).toBe(keyOf('a'));
    expect(keyOf('a', 'snd_2')).not.toBe(keyOf('a'));
  });

  it('takes a prefix with a slash at its end, and none', () => {
    expect(keyOf('a/')).toBe(keyOf('a'));
    expect(`a/${keyOf('')}`).toBe(keyOf('a'));
  });

  it('has a key of one length, at most 1,024 bytes', () => {
    expect(keyOf('a', '', 0)).toHaveLength(keyOf('a').length);
    expect(Buffer.byteLength(keyOf('x'.repeat(971)))).toBe(1_024);
  });
});
