import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { deploy } from './deploy.js';
import { ranHere } from './testing/ran-here.js';

const REPLIES: Readonly<Record<string, unknown>> = {
  'POST /v1/components?exclude=code': { data: { id: 'sc_1', name: 'Orders', type: 'source', configurable_props: [] } },
  'POST /v1/sources': { data: { id: 'dc_2', name_slug: 'orders-1', active: true, revision: 1 } },
  'DELETE /v1/sources/dc_2?ignore_hook_errors=true': {},
};

let dir = '';
let server: Server;
let url = '';
let asked: string[] = [];
beforeEach(async () => {
  [dir, asked] = [tempDir('deploy'), []];
  writeFileSync(join(dir, 'orders.mjs'), "export default { name: 'Orders', run() {} };\n");
  server = createServer((request, response) => {
    const route = `${request.method ?? ''} ${request.url ?? ''}`;
    asked.push(route);
    request.resume();
    const reply = REPLIES[route];
    const missing = { error: 'no such source', code: 'source_not_found' };
    response.writeHead(reply === undefined ? 404 : 200).end(JSON.stringify(reply ?? missing));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  removeDir(dir);
});

const deployed = (more: object) => ranHere(deploy, [join(dir, 'orders.mjs')], { url, name: 'Orders', ...more });

// docs/reference/command-line.md#upsert
describe('sluice deploy --upsert', () => {
  it('leaves no second source when somebody else makes one of its name at the same moment', async () => {
    const { exit, out, err } = await deployed({ upsert: true });
    expect([exit, out]).toEqual([5, []]);
    expect(err).toEqual([expect.stringMatching(/a source called orders was made at the same moment.*dc_2.* deleted/)]);
    expect(asked.at(-1)).toBe('DELETE /v1/sources/dc_2?ignore_hook_errors=true');
  });

  it('is what looks at the slug: a name alone may be taken', async () => {
    expect(await deployed({})).toMatchObject({ exit: 0, out: ['orders-1 (dc_2): deployed, active'] });
    expect(asked.some((route) => route.startsWith('DELETE'))).toBe(false);
  });
});
