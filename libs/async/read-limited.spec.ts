import { describe, expect, it } from '@jest/globals';
import { readLimited } from './read-limited.js';

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

describe('a body that is read up to a size', () => {
  it('is whole up to that size, also with characters in two chunks', async () => {
    const [first, rest] = [Buffer.from('ä').subarray(0, 1), Buffer.from('ä').subarray(1)];
    async function* halves(): AsyncGenerator<Uint8Array> {
      yield first;
      yield rest;
    }
    expect((await readLimited(halves(), 2))?.toString('utf8')).toBe('ä');
    const long = 'x'.repeat(40_000);
    expect((await readLimited(chunks(long, long), 80_000))?.toString('utf8')).toBe(long + long);
    expect(await readLimited(chunks(), 5)).toEqual(Buffer.alloc(0));
  });

  it('is given up beyond, and its source is closed', async () => {
    let closed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.from('xx');
      } finally {
        closed = true;
      }
    }
    expect(await readLimited(endless(), 3)).toBeUndefined();
    expect(closed).toBe(true);
  });
});
