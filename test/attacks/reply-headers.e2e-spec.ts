import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();

/** Responds with the reply in the request. */
const obeying = (): string =>
  componentCode({ props: CUSTOM_HTTP, members: 'run(event) { this.http.respond(event.body); },' });

/** Writes a reply to the host directly, past every check in the sandbox: a record of the protocol on descriptor 4. */
const forging = (): string =>
  componentCode({
    props: CUSTOM_HTTP,
    head: `import { writeSync } from 'node:fs';`,
    members: `async run(event) {
      const { headers, index, n } = event.body;
      // The sandbox has sent its own records of this run by then.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      const json = Buffer.from(JSON.stringify(['r', n, 200, headers, 1, 0]));
      const head = Buffer.alloc(12);
      head.writeUInt32LE(index, 0);
      head.writeUInt32LE(json.length, 4);
      writeSync(4, Buffer.concat([head, json]));
      await new Promise((resolve) => setTimeout(resolve, 200));
    },`,
  });

describe('a reply of a component', () => {
  let obedient: Source;
  let neighbour: Source;
  beforeAll(async () => {
    [obedient, neighbour] = await Promise.all([instance.deploy(obeying()), instance.deploy(obeying())]);
  }, 60_000);

  const serverLives = async (): Promise<void> => {
    const answer = await instance.post(neighbour, { status: 201, headers: { 'x-a': 'b' }, body: 'alive' });
    expect([answer.status, answer.headers['x-a'], answer.text]).toEqual([201, 'b', 'alive']);
  };

  it.each([
    ['trailer', 'x'],
    ['Trailer', 'x-a'],
    ['transfer-encoding', 'chunked'],
    ['content-length', '1'],
    ['connection', 'upgrade'],
    ['keep-alive', 'timeout=1'],
    ['upgrade', 'websocket'],
    ['te', 'trailers'],
    ['proxy-connection', 'close'],
    ['x-long', 'x'.repeat(20_000)],
    ['x-beyond', '\u20ac'],
    ['x-split', 'a\r\nset-cookie: b=c'],
    ['bad name', 'x'],
    ['', 'x'],
  ])('with header %j fails alone, with a text that names it', async (name, value) => {
    const answer = await instance.post(obedient, { headers: { [name]: value }, body: 'never' });
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'run_failed', error: expect.stringContaining('respond:') });
    expect(answer.text).toContain(name === '' ? 'header name' : name);
    expect(answer.headers['set-cookie']).toBeUndefined();
    await serverLives();
  });

  it('passes with harmless variants of these headers (the control)', async () => {
    const headers = { 'x-trailer': 'x', 'content-language': 'en', 'set-cookie': ['a=1', 'b=2'], 'x-latin': 'é' };
    const answer = await instance.post(obedient, { headers, body: 'fine' });
    expect([answer.status, answer.text]).toEqual([200, 'fine']);
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  });

  it.each([[100], [101], [103], [199], [204], [205], [304], [599]])(
    'of status %i is one whole answer',
    async (status) => {
      const answer = await instance.post(obedient, { status, body: 'text', headers: { 'x-a': 'b' } });
      expect([answer.status, answer.headers['x-a']]).toEqual([status < 200 ? 200 : status, 'b']);
      await serverLives();
    },
  );

  describe('forged past the sandbox', () => {
    let forger: Source;
    /** Numbers of a record of a sandbox's first run, found by trial. */
    let fitting: { readonly index: number; readonly n: number } | undefined;
    beforeAll(async () => {
      forger = await instance.deploy(forging());
    }, 60_000);

    it('is sent when its headers are allowed (the control)', async () => {
      for (const index of [2, 1, 3])
        for (const n of [1, 0, 2]) {
          if (fitting) break;
          const answer = await instance.post(forger, { headers: { 'x-forged': '1' }, index, n });
          if (answer.headers['x-forged'] === '1') fitting = { index, n };
        }
      expect(fitting).toBeDefined();
      await serverLives();
    });

    it.each([
      { trailer: 'x' },
      { 'transfer-encoding': 'chunked' },
      { 'content-length': '0' },
      { a: 'b\r\nc: d' },
      { a: '\u20ac' },
      { 'X-A': '1', 'x-a': '2' },
    ])('fails alone with %j', async (headers) => {
      const answer = await instance.post(forger, { headers, ...fitting });
      expect([answer.status, jsonOf(answer)]).toMatchObject([500, { code: 'run_failed' }]);
      await serverLives();
    });
  });
});
