import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type Globals } from '../author/globals.js';
import { ranHere } from '../author/testing/ran-here.js';
import { diff as act } from './diff.js';

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
const NOT_FOUND: Reply = { status: 404, body: { error: 'no such workflow', code: 'workflow_not_found' } };
const workflow = (definition: object, id = 'p_1', owner = 'o_1'): Reply => ({
  status: 200,
  body: { data: { id, active: true, owner_id: owner, managed_by: null, revision: 1, definition } },
});

let dir = '';
let file = '';
let server: Server;
let url = '';
/** Replies by method and path; the last one of a list is given again. */
let replies: Record<string, readonly Reply[]> = {};
let asked: { readonly route: string; readonly key: string | undefined; readonly agent: string | undefined }[] = [];

beforeEach(async () => {
  dir = tempDir('workflows-diff');
  mkdirSync(join(dir, 'shop/orders'), { recursive: true });
  file = join(dir, 'shop/orders/workflow.yaml');
  writeFileSync(file, 'name: Orders\nsteps: []\n');
  [replies, asked] = [{}, []];
  server = createServer((request, response) => {
    const route = `${request.method ?? ''} ${request.url ?? ''}`;
    const before = asked.filter((each) => each.route === route).length;
    asked.push({ route, key: request.headers.authorization, agent: request.headers['user-agent'] });
    const list = replies[route] ?? [NOT_FOUND];
    const { status, body, headers = {} } = list[Math.min(before, list.length - 1)] ?? NOT_FOUND;
    response.writeHead(status, headers).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  removeDir(dir);
  await new Promise((resolve) => server.close(resolve));
});

const BY_NAME = 'GET /v1/workflows/ext%3Ashop%2Forders';
const SAME = { name: 'Orders', external_id: 'shop/orders', steps: [] };
const diff = (options: Globals = {}) => ranHere(act, [dir], { url, ...options });
const json = (lines: readonly string[]): unknown => {
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
};

describe('sluice workflows diff', () => {
  it('prints nothing when the server has the same', async () => {
    replies[BY_NAME] = [workflow(SAME)];
    expect(await diff()).toEqual({ exit: 0, out: [], err: [] });
    expect(asked).toEqual([
      { route: BY_NAME, key: 'Bearer a-key', agent: expect.stringMatching(/^sluice-cli\/\d+\.\d+\.\d+/) },
    ]);
    expect(json((await diff({ json: true })).out)).toEqual({ data: [{ file, id: 'p_1', state: 'same', text: '' }] });
  });

  it('prints what an update would change, and ends with 1', async () => {
    replies[BY_NAME] = [workflow({ ...SAME, settings: { timeout_seconds: 5 } })];
    const text = [
      '--- p_1 on the server',
      `+++ ${file}`,
      '@@ -1,5 +1,3 @@',
      ' name: Orders',
      ' external_id: shop/orders',
      '-settings:',
      '-  timeout_seconds: 5',
      ' steps: []',
    ];
    expect(await diff()).toEqual({ exit: 1, out: text, err: [] });
    const { exit, out } = await diff({ json: true });
    expect(exit).toBe(1);
    expect(json(out)).toEqual({ data: [{ file, id: 'p_1', state: 'differs', text: `${text.join('\n')}\n` }] });
  });

  it('shows a new workflow as added', async () => {
    const { exit, out } = await diff();
    expect(exit).toBe(1);
    expect(out).toEqual(expect.arrayContaining(['--- /dev/null', '+name: Orders']));
  });

  it('looks for the id of the state file first, in the named workspace', async () => {
    writeFileSync(join(dir, 'shop/orders/.workflow.state'), 'id: p_0123456789abcdefgh\n');
    const byId = 'GET /v1/workflows/p_0123456789abcdefgh';
    replies[byId] = [workflow({ ...SAME, external_id: 'other' })];
    expect((await diff()).exit).toBe(0);
    expect(asked.map(({ route }) => route)).toEqual([byId]);
    replies[`${byId}?workspace_id=o_2`] = [workflow(SAME)];
    replies[`${BY_NAME}?workspace_id=o_2`] = [workflow(SAME, 'p_2', 'o_2')];
    expect(json((await diff({ workspace: 'o_2', json: true })).out)).toMatchObject({ data: [{ id: 'p_2' }] });
    replies[byId] = [NOT_FOUND];
    replies[BY_NAME] = [workflow(SAME, 'p_3')];
    expect(json((await diff({ json: true })).out)).toMatchObject({ data: [{ id: 'p_3', state: 'same' }] });
  });

  // docs/reference/workflows.md#import-rule
  it('shows no source that the server left out', async () => {
    writeFileSync(file, 'name: Orders\ntriggers:\n  - id: dc_here\n  - id: dc_gone\nsteps: []\n');
    const ignored = { path: 'triggers[1].id', code: 'trigger_ignored', message: 'does not exist here' };
    replies['POST /v1/workflows/validate'] = [{ status: 200, body: { data: { valid: true }, warnings: [ignored] } }];
    replies[BY_NAME] = [workflow({ ...SAME, triggers: [{ type: 'source', id: 'dc_here' }] })];
    expect(await diff()).toEqual({ exit: 0, out: [], err: [] });
    replies[BY_NAME] = [workflow(SAME)];
    const { exit, out } = await diff();
    expect([exit, out.join()]).toEqual([1, expect.stringContaining('dc_here')]);
    expect(out.join()).not.toContain('dc_gone');
  });

  it('asks nobody when a file is wrong', async () => {
    writeFileSync(file, 'steps: 5\n');
    expect((await diff()).exit).toBe(6);
    expect(asked).toEqual([]);
  });

  it('tries an overloaded server again', async () => {
    const busy: Reply = { status: 503, headers: { 'retry-after': '0' }, body: { error: 'later', code: 'busy' } };
    replies[BY_NAME] = [busy, busy, busy, workflow(SAME)];
    expect((await diff()).exit).toBe(0);
    replies[BY_NAME] = [busy];
    asked = [];
    expect(await diff()).toEqual({ exit: 8, out: [], err: ['sluice: later'] });
    expect(asked).toHaveLength(4);
  });

  it.each([
    [401, 'unauthorized', 3],
    [403, 'forbidden', 3],
    [404, 'workspace_not_found', 4],
    [409, 'conflict', 5],
    [500, 'internal_error', 1],
  ])('ends as the status %i asks', async (status, code, exit) => {
    replies[BY_NAME] = [{ status, body: { error: 'told', code, details: { field: 'x' } } }];
    const failed = await diff({ json: true });
    expect([failed.exit, failed.out]).toEqual([exit, []]);
    expect(json(failed.err)).toEqual({ error: 'told', code, status, details: { field: 'x' }, next: null });
  });

  it('tells that no server of this kind is there, and follows nobody with the key', async () => {
    replies[BY_NAME] = [{ status: 302, headers: { location: `${url}/elsewhere` } }];
    expect((await diff()).err[0]).toContain('answered 302 in a way that a server of Sluice does not');
    expect(asked).toHaveLength(1);
    const { exit, err } = await diff({ url: 'http://127.0.0.1:1', json: true });
    expect(exit).toBe(7);
    expect(json(err)).toMatchObject({ code: 'no_server', status: null });
  });
});
