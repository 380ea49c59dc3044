import { afterEach, describe, expect, it } from '@jest/globals';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { bodyRangeOf, wholeEvent } from '#libs/component-model/http-event.js';
import { httpBytes } from '#libs/http/bytes-in-flight.js';
import { ingressWorld } from './testing/ingress-world.js';

const KB = 1024;
const LIMIT = 512 * KB;
const worlds: Awaited<ReturnType<typeof ingressWorld>>[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ close }) => close()));
});

const setUp = async () => {
  const world = await ingressWorld({ maxBodyBytes: LIMIT, bytes: httpBytes(LIMIT, LIMIT) });
  worlds.push(world);
  const send = async (coding: string, body: Buffer, type = 'application/json') => {
    const headers = { 'content-encoding': coding, 'content-type': type };
    const { status, body: answer } = await world.call('POST', '/h/ehook', { headers, body });
    const { value = '', headers: of = {} } = world.published.at(-1) ?? {};
    const event = value === '' ? '{}' : wholeEvent(value, bodyRangeOf(value, of['body']));
    return { status, answer: JSON.parse(answer) as unknown, event: JSON.parse(event) as Record<string, unknown> };
  };
  return { ...world, send };
};

const TEXT = '{"a":1}';

// docs/reference/component-model.md#endpoint-codings
describe('content codings of a request to an endpoint', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['GZip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['deflate', deflateRawSync(TEXT, { level: 0 })],
    ['br', brotliCompressSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
    ['gzip, identity', gzipSync(TEXT)],
    ['deflate, gzip', gzipSync(deflateSync(TEXT))],
    ['gzip,br,gzip,br', brotliCompressSync(gzipSync(brotliCompressSync(gzipSync(TEXT))))],
    ['gzip', Buffer.concat([gzipSync('{"a"'), gzipSync(':1}')])],
  ])('are undone: %s', async (coding, body) => {
    const { send } = await setUp();
    const { status, event } = await send(coding, body);
    expect([status, event['body'], event['bodyRaw']]).toEqual([200, { a: 1 }, TEXT]);
    expect(event).not.toHaveProperty('isBase64Encoded');
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded', 'a=1', { a: '1' }],
    ['text', 'text/plain', 'hi', 'hi'],
    ['XML', 'application/xml', '<a/>', '<a/>'],
    [
      'multipart',
      'multipart/form-data; boundary=B',
      '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--B--\r\n',
      { a: '1' },
    ],
    ['any type', 'x/y', 'hi', 'hi'],
  ])('are undone for every content type: %s', async (_name, type, text, body) => {
    const { event } = await (await setUp()).send('gzip', gzipSync(text), type);
    expect([event['body'], event['bodyRaw']]).toEqual([body, text]);
  });

  it.each(['zstd', 'compress', 'gzip, zstd', 'aws-chunked', 'constructor'])(
    'stay when one of them is not known: %s',
    async (coding) => {
      const bytes = gzipSync(TEXT);
      const { status, event } = await (await setUp()).send(coding, bytes);
      expect([status, event['body'], event['isBase64Encoded']]).toEqual([200, bytes.toString('base64'), true]);
    },
  );

  const broken = gzipSync('aaaa');
  broken[broken.length - 6] = (broken.at(-6) ?? 0) ^ 1;
  it.each([
    ['what is not packed', 'gzip', Buffer.from(TEXT)],
    ['what is cut off', 'gzip', gzipSync(TEXT).subarray(0, -3)],
    ['a wrong checksum', 'gzip', broken],
    ['one byte', 'gzip', Buffer.from([31])],
    ['what follows it', 'gzip', Buffer.concat([gzipSync(TEXT), Buffer.from('more')])],
    ['deflate that is cut off', 'deflate', deflateSync(TEXT).subarray(0, -2)],
    ['brotli that is cut off', 'br', brotliCompressSync(TEXT.repeat(9)).subarray(0, -2)],
    ['the wrong order', 'gzip, br', gzipSync(brotliCompressSync(TEXT))],
  ])('are 400 when the data is damaged: %s', async (_name, coding, body) => {
    const { send, published } = await setUp();
    const { status, answer } = await send(coding, body);
    expect([status, answer]).toEqual([
      400,
      {
        code: 'invalid_parameter',
        error: expect.stringMatching(new RegExp(`^the body is not valid ${coding}, which`)),
      },
    ]);
    expect(published).toEqual([]);
  });

  it('may have no body to undo', async () => {
    const { status, event } = await (await setUp()).send('gzip', Buffer.alloc(0));
    expect([status, event['body']]).toEqual([200, {}]);
  });

  it('are at most four', async () => {
    const { status, answer } = await (await setUp()).send('gzip,'.repeat(5), gzipSync(TEXT));
    expect([status, answer]).toMatchObject([400, { error: expect.stringMatching(/packed 5 times, the limit is 4/) }]);
  });

  // docs/reference/limits.md#endpoint-body
  it('count unpacked, up to the limit and with data that cannot be made smaller', async () => {
    const { send } = await setUp();
    const random = Buffer.from(
      Array.from({ length: LIMIT / 4 }, () => Math.random().toString(36).slice(2, 6)).join(''),
    );
    const exact = Buffer.concat([random, Buffer.alloc(LIMIT, 0x78)]).subarray(0, LIMIT);
    const body = gzipSync(exact, { level: 0 });
    expect(body.length).toBeGreaterThan(LIMIT);
    expect((await send('gzip', body, 'text/plain')).status).toBe(200);
    const { status, answer } = await send('gzip', gzipSync(Buffer.concat([exact, Buffer.from('x')])), 'text/plain');
    expect([status, answer]).toMatchObject([
      413,
      { code: 'too_large', error: expect.stringMatching(/at least 524289 bytes, unpacked,.* 524288 bytes$/) },
    ]);
  });

  const blanks = Buffer.alloc(200_000_000, 0x20);
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
  it.each([
    ['gzip', 'gzip', () => gzipSync(blanks)],
    ['deflate', 'deflate', () => deflateSync(blanks)],
    ['brotli, 161 bytes', 'br', () => brotliCompressSync(blanks, fast)],
    ['gzip in gzip, 1 KB', 'gzip, gzip', () => gzipSync(gzipSync(blanks))],
    // The result is empty, but the intermediate one has 200 MB.
    ['nothing, packed in 200 MB of blocks', 'gzip, br', () => brotliCompressSync(emptyBlocks(40_000_000), fast)],
  ])('cost no memory when a small body unpacks to 200 MB: %s', async (_name, coding, make) => {
    const { send, published } = await setUp();
    const bomb = make();
    expect(bomb.length).toBeLessThan(LIMIT);
    const before = process.memoryUsage().rss;
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 1);
    const replies = await Promise.all(Array.from({ length: 8 }, () => send(coding, bomb)));
    clearInterval(watch);
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 413));
    expect(published).toEqual([]);
    // Eight that unpacked wholly would take 1.6 GB.
    expect(peak - before).toBeLessThan(150_000_000);
  });

  it('leave the budget of bodies as it was', async () => {
    const { send, deps } = await setUp();
    await send('gzip', gzipSync(Buffer.from(Array.from({ length: 100_000 }, () => Math.random() * 256))));
    await send('gzip', gzipSync(blanks));
    await send('gzip', Buffer.from('x'.repeat(100_000)));
    expect(deps.bytes.bodies.inUse).toBe(0);
  });
});

/** A gzip stream of stored blocks of no bytes: 5 bytes each, with an empty result. */
const emptyBlocks = (count: number): Buffer => {
  const block = Buffer.from([0, 0, 0, 0xff, 0xff]);
  const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  return Buffer.concat([head, Buffer.alloc(5 * count, block), Buffer.from([3, 0]), Buffer.alloc(8)]);
};
