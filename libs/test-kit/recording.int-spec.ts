import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { given } from './index.js';

const TOKEN = 'sesame-open';
const folder = mkdtempSync(path.join(tmpdir(), 'sluice-kit-'));
afterEach(() => {
  delete process.env['SLUICE_TEST_RECORD'];
  rmSync(folder, { recursive: true, force: true });
});

describe('given a file for recorded requests', () => {
  it('keeps requests and answers without secrets, and answers from them without a network', async () => {
    const server = createServer((req, res) => {
      res.setHeader('set-cookie', 'session=1');
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ path: req.url, by: req.headers.authorization, id: 12 }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const file = path.join(folder, 'poll.mjs');
    writeFileSync(
      file,
      `export default { name: 'P', version: '0.1.0', props: { token: { type: 'string', secret: true } }, async run() {
        for (const page of [1, 2]) {
          const answer = await fetch('http://127.0.0.1:${port}/items?page=' + page + '&key=' + this.token, {
            method: 'POST', body: JSON.stringify({ page, key: this.token }),
            headers: { authorization: 'Bearer ' + this.token, 'content-type': 'application/json' },
          });
          const { path, id } = await answer.json();
          this.$emit({ id, page: new URL(path, 'http://a').searchParams.get('page') });
        }
      } };`,
    );
    const http = path.join(folder, 'fixtures/poll.json');
    const poll = given(file, { http, props: { token: TOKEN } });
    const expected = { error: undefined, emits: [{ event: { id: 12, page: '1' } }, { event: { id: 12, page: '2' } }] };

    await expect(poll.when({ event: {} })).rejects.toThrow('sluice test --record');
    process.env['SLUICE_TEST_RECORD'] = '1';
    (await poll.when({ event: {} })).expect(expected);
    server.close();
    delete process.env['SLUICE_TEST_RECORD'];

    const text = readFileSync(http, 'utf8');
    expect(text).not.toContain(TOKEN);
    expect(JSON.parse(text)).toMatchObject([
      {
        method: 'POST',
        url: `http://127.0.0.1:${port}/items?page=1&key=********`,
        body: { page: 1, key: '********' },
        reply: { status: 200, headers: { 'set-cookie': '********' }, body: { by: 'Bearer ********', id: 12 } },
      },
      { body: { page: 2 } },
    ]);
    const again = await poll.when({ event: {} });
    again.expect({ ...expected, requests: [{ headers: { authorization: `Bearer ${TOKEN}` } }, {}] });
    const more = await poll.when({ event: {} }, { event: {} });
    more.expect({ error: { message: /answered 1 time already/ } });
  });
});
