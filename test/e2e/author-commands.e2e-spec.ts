import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { inTerminal, textOn } from '#test/harness/terminal.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('author-commands');
afterAll(() => removeDir(dir));

const variables = () => ({
  PATH: process.env.PATH ?? '',
  HOME: dir,
  SLUICE_API_KEY: server.apiKey,
  SLUICE_URL: server.url,
});
const sluice = (...args: readonly string[]): Promise<Told> => runNode([CLI, ...args], variables(), dir);
interface Document {
  readonly data: never;
  readonly page_info?: { readonly total_count: number; readonly count: number };
}
const json = async (...args: readonly string[]): Promise<Document> => {
  const { status, stdout, stderr } = await sluice(...args, '--json');
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  expect(stdout.split('\n')).toHaveLength(2);
  expect(stdout).not.toMatch(/\u001b/);
  return JSON.parse(stdout) as Document;
};
const refused = async (...args: readonly string[]): Promise<{ status: number; error: Record<string, unknown> }> => {
  const { status, stdout, stderr } = await sluice(...args, '--json');
  expect({ args, stdout }).toEqual({ args, stdout: '' });
  expect(stderr.split('\n')).toHaveLength(2);
  const error = JSON.parse(stderr) as Record<string, unknown>;
  expect(Object.keys(error)).toEqual(['error', 'code', 'status', 'details', 'next']);
  return { status, error };
};

let orders: Source;
beforeAll(async () => {
  for (let n = 0; n < 11; n++) await instance.deploy(relayCode(), {}, `source-${n}`);
  orders = await instance.deploy(relayCode(), {}, 'orders');
}, 240_000);

/** The numbers are those of the checks of the command line. */
describe('lists', () => {
  const idsOf = (stdout: string): readonly string[] => [...stdout.matchAll(/dc_\w+/g)].map(([id]) => id);

  it('18: go on where the last line says', async () => {
    const first = await sluice('list', '-n', '5');
    const [, count, total, after = ''] = /^(\d+) of (\d+); more: --after (\S+)\n$/.exec(first.stderr) ?? [];
    expect([count, total]).toEqual(['5', '12']);
    const second = await sluice('list', 'so', '-n', '5', '--after', after);
    const all = await sluice('list', 'sources', '--all');
    expect(all.stderr).toBe('');
    const expected = idsOf(all.stdout);
    expect(expected[0]).toBe(orders.id);
    expect(idsOf(first.stdout)).toEqual(expected.slice(0, 5));
    expect(idsOf(second.stdout)).toEqual(expected.slice(5, 10));
    expect(await json('list', '-n', '11')).toMatchObject({ page_info: { total_count: 12, count: 11 } });
  });

  it('14, 16: are one document, or columns without escapes', async () => {
    for (const type of ['sources', 'webhooks', 'subscriptions', 'accounts', 'stores', 'workflows', 'apps'])
      expect((await json('list', type)).data).toEqual(expect.any(Array));
    const piped = await sluice('list');
    expect(piped.stdout).toMatch(/^NAME +ID +STATE +CREATED\norders +dc_\w+ +active +\d{4}-\d\d-\d\dT[\d:.]+Z\n/);
    expect((await sluice('list', '--color', 'always')).stdout).toContain('\u001b[32mactive');
    const options = { env: { ...variables(), NO_COLOR: '1' }, cwd: dir };
    expect((await inTerminal(['list'], [], options)).shown).not.toContain('\u001b');
    const coloured = await inTerminal(['list'], [], { env: variables(), cwd: dir });
    expect(coloured.shown).toContain('\u001b[32mactive');
    expect(textOn(coloured.shown)).toMatch(/orders +dc_\w+ +active +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d/);
  }, 120_000);

  it('19: end quietly when their reader does', async () => {
    const line = `'${process.execPath}' '${CLI}' list sources --all | head -n 1; echo "status \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', line], { env: variables(), cwd: dir });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^NAME +ID .*\nstatus 0\n$/);
  });

  it('17: are read to their end, page by page', async () => {
    const sources = Array.from({ length: 10_000 }, (_, n) => ({ id: `dc_${n}` }));
    const pages = createServer(({ url = '' }, response) => {
      const query = new URL(url, 'http://127.0.0.1').searchParams;
      const [from, limit] = [Number(query.get('after') ?? 0), Number(query.get('limit'))];
      const data = sources.slice(from, from + limit);
      const info = { total_count: sources.length, count: data.length, end_cursor: String(from + data.length) };
      response.end(JSON.stringify({ data, page_info: info }));
    }).listen(0, '127.0.0.1');
    await once(pages, 'listening');
    const url = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const { status, stdout, stderr } = await sluice('list', '--all', '--json', '--url', url, '--workspace', 'o_1');
    pages.closeAllConnections();
    pages.close();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { data } = JSON.parse(stdout) as { data: { id: string }[] };
    expect(new Set(data.map(({ id }) => id)).size).toBe(10_000);
  }, 60_000);

  it('15: and all that reads fail with one line of JSON on standard error', async () => {
    const lines = [
      'whoami',
      'list',
      'list components',
      'describe orders',
      'events orders',
      'logs orders',
      'errors',
      'runs orders',
      'stores records x',
      'audit',
      'members',
      'keys',
      'webhooks deliveries x',
      'api GET /users/me',
    ];
    const env = { ...variables(), SLUICE_API_KEY: 'sk_of-somebody-else' };
    for (const line of lines) {
      const { status, stdout, stderr } = await runNode([CLI, ...line.split(' '), '--json'], env, dir);
      expect({ line, status, stdout, lines: stderr.split('\n').length }).toEqual({
        line,
        status: 3,
        stdout: '',
        lines: 2,
      });
      expect(JSON.parse(stderr)).toEqual({
        error: expect.any(String),
        code: 'unauthorized',
        status: 401,
        details: {},
        next: null,
      });
    }
  }, 120_000);

  it('refuse what they do not list', async () => {
    expect(await refused('list', 'sauces')).toMatchObject({ status: 2, error: { code: 'usage' } });
    expect(await refused('list', '-n', '0')).toMatchObject({ status: 2, error: { code: 'usage' } });
    expect(await refused('list', 'subscriptions', '--q', 'x')).toMatchObject({ status: 2, error: { code: 'usage' } });
    expect(await refused('list', '--workspace', 'Nobody')).toMatchObject({ status: 4 });
  });
});

describe('one source', () => {
  it('5: is named to be started', async () => {
    expect(await sluice('start')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'sluice: name a source. To start a server: "sluice serve".\n',
    });
  });

  it('35: is stopped and started', async () => {
    const endpoint = instance.endpoint(orders);
    expect(await json('stop', 'orders')).toEqual({ data: [{ id: orders.id, active: false }] });
    expect((await fetch(endpoint, { method: 'POST' })).status).toBe(404);
    expect((await sluice('start', 'orders', orders.id)).stdout).toBe(`orders (${orders.id}): active\n`);
    expect((await fetch(endpoint, { method: 'POST', body: '{}' })).status).toBe(200);
  });

  it('4: that nobody knows has a near name', async () => {
    expect(await refused('stop', 'ordrs')).toEqual({
      status: 4,
      error: {
        error: 'no source is called "ordrs". Meant "orders"? "sluice list sources" shows all.',
        code: 'source_not_found',
        status: 404,
        details: {},
        next: 'sluice list sources',
      },
    });
    // Nothing happens to the others.
    await refused('stop', 'orders', 'ordrs');
    expect((await api.getSource(orders.id)).active).toBe(true);
    expect((await sluice('events')).status).toBe(2);
  });

  it('34: is deleted after a question', async () => {
    const { id } = await instance.deploy(relayCode(), {}, 'gone');
    const question = `Delete gone (${id}) with all events, state and subscriptions?`;
    expect(await sluice('delete', 'gone')).toEqual({
      status: 2,
      stdout: '',
      stderr: `sluice: ${question} Nobody can be asked here: add --yes\n`,
    });
    const options = { env: variables(), cwd: dir };
    const no = await inTerminal(['delete', 'gone'], [{ to: /\[y\/N\]/, type: '\r' }], options);
    expect(no.status).toBe(2);
    expect((await api.getSource(id)).id).toBe(id);
    expect(await json('delete', 'gone', '--yes')).toEqual({ data: [{ id, deleted: true }] });
    expect(await refused('delete', 'gone', '--yes')).toMatchObject({ status: 4 });
  }, 120_000);
});

describe('events', () => {
  it('37: are the newest, older first, and act on no terminal', async () => {
    const escape = '\u001b]0;owned\u0007\u009b2J';
    await instance.post(orders, { id: 'A1' });
    await instance.post(orders, { text: escape });
    await instance.history(orders, 2);
    const { status, stdout, stderr } = await sluice('events', 'orders', '-n', '2');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [first, second, ...others] = stdout.split('\n');
    expect(others).toEqual(['']);
    expect(first).toMatch(/^\S+Z {2}\{"id":"A1"\}$/);
    expect(second).toContain(String.raw`\u001b]0;owned\u0007\u009b2J`);
    const raw = await sluice('events', 'orders', '-n', '2', '--json');
    expect((JSON.parse(raw.stdout) as { data: { event: unknown }[] }).data.map(({ event }) => event)).toEqual([
      { id: 'A1' },
      { text: escape },
    ]);
    expect(raw.stdout).not.toMatch(/[\u001b\u0007\u009b]/);
    expect((await json('logs', 'orders')).data).toEqual([]);
    expect((await json('errors', 'orders')).data).toEqual([]);
  });
});

describe('sluice describe', () => {
  it('tells about what has an id, a name or a key', async () => {
    const { status, stdout, stderr } = await sluice('describe', 'orders');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^id +${orders.id}$`, 'm'));
    expect(stdout).toContain(instance.endpoint(orders));
    expect(stdout).toMatch(/^last event +\S+Z {2}\{/m);
    expect(stdout).toMatch(/^last error +none is kept$/m);
    expect((await json('describe', orders.id)).data).toMatchObject({ id: orders.id, name: 'orders' });
    const webhook = await api.createWebhook(instance.receiver.url);
    expect((await json('describe', webhook.id)).data).toMatchObject({ id: webhook.id });
    expect((await json('describe', orders.component_id)).data).toMatchObject({ id: orders.component_id });
    expect(await refused('describe', 'nothing-of-this')).toMatchObject({
      status: 4,
      error: { error: 'nothing is called "nothing-of-this". "sluice list" shows the sources.', next: 'sluice list' },
    });
  }, 60_000);
});

describe('sluice run', () => {
  it('36: prints what the run logged, and ends with 1 when it failed', async () => {
    const code = `export default { name: 'hello', version: '0.0.1', run(event) {
      console.log('Hello, ' + event.body.name + '!');
      this.$emit({ id: 7 }, { summary: 'Seven', name: 'greeted' });
      if (event.body.name === 'Eve') throw new Error('not Eve');
    } };`;
    await instance.deploy(code, {}, 'hello');
    const greeted = await sluice('run', 'hello', '--event', '{"body":{"name":"Ada"}}');
    expect(greeted).toMatchObject({ status: 0, stderr: '' });
    expect(greeted.stdout).toMatch(/Hello, Ada!\nemit {2}greeted {2}Seven {2}\{"id":7\}\nok {2}\d+ ms\n$/);
    const failed = await sluice('run', 'hello', '--event', '{"body":{"name":"Eve"}}');
    expect(failed.status).toBe(1);
    expect(failed.stdout).toContain('Error not Eve');
    expect((await json('run', 'hello', '--no-wait')).data).toMatchObject({ id: expect.any(String) });
    expect(await refused('run', 'hello', '--event', '{')).toMatchObject({ status: 2 });
  }, 60_000);
});

describe('sluice api', () => {
  it('48: prints the reply as it came', async () => {
    const expected = (await api.call('GET', '/v1/users/me')).text;
    expect((await sluice('api', 'GET', '/users/me')).stdout).toBe(expected);
    expect((await sluice('api', 'get', '/v1/users/me')).stdout).toBe(expected);
    const file = join(dir, 'body.json');
    writeFileSync(file, '{"name":"a store"}');
    const { data } = JSON.parse((await sluice('api', 'POST', '/data_stores', '--data', `@${file}`)).stdout) as {
      data: { id: string };
    };
    expect((await sluice('api', 'GET', '/data_stores', '-q', 'limit=1', '-q', 'include=id')).stdout).toContain(data.id);
    expect(await sluice('api', 'DELETE', `/data_stores/${data.id}`)).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(await refused('api', 'GET', `/data_stores/${data.id}`)).toMatchObject({ status: 4, error: { status: 404 } });
    for (const path of ['users/me', '//other.example/v1', 'http://other.example/'])
      expect(await refused('api', 'GET', path)).toMatchObject({ status: 2 });
    expect(await refused('api', 'POST', '/data_stores', '--data', '{')).toMatchObject({ status: 2 });
  });
});

describe('sluice keys', () => {
  it('6: makes keys that may read only, which change nothing', async () => {
    const made = await sluice('keys', 'create', 'ci', '--read-only', '--expires-in', '1h');
    const key = made.stdout.trim();
    expect(made.stderr).toMatch(/^key key_\w+ \(ci\), shown this once\n$/);
    const [id = ''] = /key_\w+/.exec(made.stderr) ?? [];
    const env = { ...variables(), SLUICE_API_KEY: key };
    expect((await runNode([CLI, 'list'], env, dir)).status).toBe(0);
    expect((await runNode([CLI, 'stop', 'orders'], env, dir)).status).toBe(3);
    expect((await sluice('keys')).stdout).toMatch(new RegExp(`^ci +${id} +read-only +\\S+Z +\\S+Z$`, 'm'));
    expect(await refused('keys', 'revoke', id)).toMatchObject({ status: 2 });
    expect(await json('keys', 'revoke', id, '-y')).toEqual({ data: { id, revoked: true } });
    expect((await runNode([CLI, 'list'], env, dir)).status).toBe(3);
    expect(await refused('keys', 'create', '--expires-in', '30')).toMatchObject({ status: 2 });
  }, 60_000);
});
