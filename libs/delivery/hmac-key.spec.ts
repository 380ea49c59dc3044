import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { HmacKey } from './hmac-key.js';

const ascii = 'dlv_1.1700000000.';
/** Length of a body whose signed bytes just fit into the buffer that all keys share. */
const FITS = (16 << 10) - 64 - ascii.length;

describe('an HMAC key', () => {
  it.each([1, 16, 24, 63, 64, 65, 200])('of %d bytes signs as Node does, bodies of any size', (length) => {
    const bytes = randomBytes(length);
    const key = new HmacKey(bytes);
    for (const size of [0, 1, 55, 56, 1_024, FITS - 1, FITS, FITS + 1, 1 << 20]) {
      const body = randomBytes(size);
      for (const encoding of ['base64', 'hex'] as const) {
        const expected = createHmac('sha256', bytes).update(ascii).update(body).digest(encoding);
        expect({ size, signature: key.sign(ascii, body, encoding) }).toEqual({ size, signature: expected });
      }
    }
  });

  it('signs nothing of what another key signed before', () => {
    const [one, other] = [new HmacKey(Buffer.from('one')), new HmacKey(Buffer.from('the other'))];
    const alone = one.sign('a', Buffer.from('b'), 'hex');
    other.sign('long text', Buffer.alloc(1_000, 7), 'hex');
    expect(one.sign('a', Buffer.from('b'), 'hex')).toBe(alone);
  });

  it('signs views into larger memory', () => {
    const memory = Buffer.from('before{"n":1}after');
    const expected = createHmac('sha256', 'key').update('1.{"n":1}').digest('hex');
    expect(new HmacKey(Buffer.from('key')).sign('1.', memory.subarray(6, 13), 'hex')).toBe(expected);
  });
});
