import { describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { compatSignature, parseSigningKey, signedHeaders, standardSignature } from './signing.js';

const identity = {
  delivery: 'dlv_1',
  webhook: 'wh_1',
  emitter: 'dc_1',
  emit: 'e1',
  channel: 'new',
  attempt: 3,
  replay: undefined,
};
const headersOf = (list: readonly string[]): Record<string, string> =>
  Object.fromEntries(Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i]!, list[2 * i + 1]!]));

describe('standardSignature', () => {
  it('matches the published test vector of Standard Webhooks', () => {
    const key = parseSigningKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const body = Buffer.from('{"test": 2432232314}');
    expect(standardSignature([key], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, body)).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  it('signs once for each key, newest first', () => {
    const keys = [1, 2].map((byte) => parseSigningKey(`whsec_${Buffer.alloc(32, byte).toString('base64')}`));
    const body = Buffer.from('{}');
    const by = (byte: number): string =>
      `v1,${createHmac('sha256', Buffer.alloc(32, byte)).update('dlv_1.5.{}').digest('base64')}`;
    expect(standardSignature(keys, 'dlv_1', 5, body)).toBe(`${by(1)} ${by(2)}`);
  });
});

describe('compatSignature', () => {
  it('is HMAC-SHA256 over time and exact body, keyed with the text of the key', () => {
    const text = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
    const body = Buffer.from([0xff, 0x00, 0x7b]);
    const expected = createHmac('sha256', text)
      .update(Buffer.concat([Buffer.from('1700000000.'), body]))
      .digest('hex');
    expect(compatSignature(parseSigningKey(text), 1700000000, body)).toBe(`t=1700000000,v1=${expected}`);
  });
});

describe('signedHeaders', () => {
  const text = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;

  it('names delivery, webhook, emitter, emit, channel and attempt, with times in whole seconds', () => {
    const headers = headersOf(signedHeaders([parseSigningKey(text)], identity, 1_700_000_000_999, Buffer.from('{}')));
    expect(headers).toMatchObject({
      'webhook-id': 'dlv_1',
      'webhook-timestamp': '1700000000',
      'x-pd-emitter-id': 'dc_1',
      'x-pd-timestamp': '2023-11-14T22:13:20Z',
      'x-pd-emit-id': 'e1',
      'x-pd-event-name': 'new',
      'x-pd-webhook-id': 'wh_1',
      'x-pd-attempt': '3',
    });
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(headers['x-pd-signature']).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/);
  });

  it('keeps the signed id across attempts and carries no signature without keys', () => {
    const unsigned = headersOf(signedHeaders([], { ...identity, attempt: 4 }, 1000, Buffer.from('{}')));
    expect(unsigned['webhook-id']).toBe('dlv_1');
    expect(Object.keys(unsigned).filter((name) => name.endsWith('signature'))).toEqual([]);
  });
});

describe('parseSigningKey', () => {
  it.each(['', 'secret', 'whsec_', 'whsec_!!!!', 'whsec_c2hvcnQ=', `WHSEC_${Buffer.alloc(24).toString('base64')}`])(
    'refuses %j without repeating it',
    (text) => {
      expect(() => parseSigningKey(text)).toThrow('signing key is not whsec_ followed by base64 of at least 16 bytes');
    },
  );
});
