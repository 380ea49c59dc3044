import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { inTerminal } from '#test/harness/terminal.js';

/** Sets a title, clears the screen, changes colours, and turns the order of what follows. */
const ACTS = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eX';
const ACTIVE = /\u001b\]|\u001b\[2J|[\u0007\u009b\u202e]/;

const texts = (...keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, ACTS]));
const error = { name: ACTS, message: ACTS, stack: `${ACTS}\n    at ${ACTS}`, err: ACTS };
const event = { k: ACTS, msg: ACTS, err: error, error, [ACTS]: ACTS };

/** Has each field that a command prints. */
const thing: Readonly<Record<string, unknown>> = {
  ...texts('id', 'name', 'name_slug', 'key', 'type', 'version', 'description', 'url', 'email', 'username', 'role'),
  ...texts('user_id', 'owner_id', 'emitter_id', 'listener_id', 'event_name', 'status', 'kind', 'summary', 'outcome'),
  ...texts('response', 'signing_key', 'at', 'resource_id', 'path', 'value', 'ms', 'attempt', 'state', 'external_id'),
  app: { name_slug: ACTS },
  actor: { user_id: ACTS },
  changes: [{ path: ACTS }],
  active: true,
  revision: 1,
  ended: true,
  // No time at all, and one that no clock has.
  created_at: 1e300,
  updated_at: -1,
  expires_at: 1e300,
  indexed_at_ms: 1e300,
  queued_at_ms: 1e300,
  ts: 1e300,
  error,
  event,
  metadata: { name: ACTS, summary: ACTS, emitter_id: ACTS, invocation_id: ACTS },
  logs: [{ event }],
  emits: [{ event, event_name: ACTS, summary: ACTS, metadata: { name: ACTS, summary: ACTS } }],
  observations: [event],
  configured_props: { [ACTS]: { endpoint_url: ACTS } },
  configurable_props: [{ name: ACTS, type: 'string', label: ACTS, description: ACTS }],
};
const me = { ...thing, orgs: [{ id: 'o_1', name: ACTS }, thing], api_key: thing };

const LIST =
  /\/(?:sources|components|webhooks|subscriptions|accounts|data_stores|workflows|apps|records|api_keys|members|audit|runs|deliveries|\w*event_summaries)$/;

const hostile = ({ method, url = '' }: IncomingMessage): unknown => {
  const [path = ''] = url.split('?');
  if (path === '/v1/users/me') return { data: me };
  if (method === 'GET' && (LIST.test(path) || path.includes('/$')))
    return { data: [thing, thing], page_info: { total_count: 1e9, count: 2, start_cursor: ACTS, end_cursor: ACTS } };
  if (path.includes('/audit/')) return { data: [thing] };
  return { data: thing, warnings: [{ message: ACTS }, ACTS], observations: [event], os: [event], ret: ACTS };
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const sendJson =
  (status: number, of: (request: IncomingMessage) => unknown): Answer =>
  (request, response) =>
    void response.writeHead(status, { 'x-request-id': '\u009b31m' }).end(JSON.stringify(of(request)));

const dir = tempDir('hostile-server');
const sockets = new Set<Server>();
let answer: Answer;
let asked: IncomingMessage[] = [];
let url = '';

const listening = async (act: Answer): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume();
    act(request, response);
  }).listen(0, '127.0.0.1');
  sockets.add(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeAll(async () => {
  url = await listening((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  writeFileSync(join(dir, 'hello.mjs'), `export default { name: 'hello', run() {} };`);
});
beforeEach(() => void (asked = []));
afterAll(() => {
  for (const server of sockets) {
    server.closeAllConnections();
    server.close();
  }
  removeDir(dir);
});

const env = () => ({
  PATH: process.env.PATH ?? '',
  HOME: dir,
  SLUICE_API_KEY: 'sk_of-this-user-only',
  SLUICE_URL: url,
});
const sluice = (...args: readonly string[]): Promise<Told> => runNode([CLI, ...args], env(), dir);

/** Runs them a few at a time. */
const each = async <T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> => {
  const left = [...all];
  const work = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await act(one);
  };
  await Promise.all([work(), work()]);
};

const lines = (...commands: readonly string[]): readonly (readonly string[])[] =>
  commands.map((line) => line.split(' '));
const LISTS = ['sources', 'components', 'webhooks', 'subscriptions', 'accounts', 'stores', 'workflows', 'apps'];
const PRINTING = lines(
  ...LISTS.map((list) => `list ${list} -n 2`),
  'whoami',
  'describe dc_1',
  'describe wh_1',
  'describe sc_1',
  'events dc_1 -n 2',
  'events dc_1 -n 2 --q x',
  'logs dc_1 -n 2',
  'errors -n 2',
  'runs dc_1 -n 2',
  'runs dc_1 inv_1',
  'run dc_1',
  'stores records ds_1 -n 2',
  'stores get ds_1 key',
  'stores create name',
  'audit -n 2',
  'audit dc_1 -n 2',
  'members',
  'keys -n 2',
  'webhooks create http://x.example',
  'webhooks deliveries wh_1 -n 2',
  'webhooks test wh_1',
  'webhooks rotate-key wh_1',
  'accounts create slack --name x',
  'deploy hello.mjs',
  'publish hello.mjs',
  'update dc_1 --name x',
  'start dc_1',
  'delete dc_1 --yes',
  'subscribe dc_1 dc_2',
  'dev hello.mjs',
  'workflows list',
);

// docs/reference/command-line.md#terminal
describe('a server whose texts act on a terminal', () => {
  it('prints none of them so, with any command', async () => {
    answer = sendJson(200, hostile);
    await each(PRINTING, async (args) => {
      const { status, stdout, stderr } = await sluice(...args, ...(args[0] === 'workflows' ? [] : ['--verbose']));
      expect({ args, status, stderr, isKnown: [0, 1, 2, 4].includes(status) }).toMatchObject({ args, isKnown: true });
      expect({ args, stdout: ACTIVE.exec(stdout), stderr: ACTIVE.exec(stderr) }).toEqual({
        args,
        stdout: null,
        stderr: null,
      });
      expect({ args, crash: /\w+Error: |\.js:\d+/.exec(stderr) }).toEqual({ args, crash: null });
    });
  }, 300_000);

  it('prints none of its errors so', async () => {
    answer = sendJson(400, () => ({ error: ACTS, code: ACTS, details: { [ACTS]: ACTS } }));
    await each(lines('list', 'list --json', 'deploy hello.mjs', 'complete -- describe dc'), async (args) => {
      const { stdout, stderr } = await sluice(...args);
      expect({ args, found: ACTIVE.exec(`${stdout}${stderr}`) }).toEqual({ args, found: null });
    });
    answer = sendJson(422, () => ({
      error: 'x',
      code: 'hook_failed',
      details: { message: ACTS },
      observations: [event],
    }));
    const { status, stderr } = await sluice('deploy', 'hello.mjs');
    expect({ status, found: ACTIVE.exec(stderr) }).toEqual({ status: 6, found: null });
    expect(stderr).toContain(String.raw`\u001b]0;owned`);
  }, 60_000);

  it('is asked about in words that do not act', async () => {
    answer = sendJson(200, hostile);
    const { SLUICE_API_KEY: key, SLUICE_URL: _, ...others } = env();
    const asks = [
      { to: /API key for/, type: `${key}\r` },
      { to: /Workspace/, type: '\r' },
    ];
    const options = { env: { ...others, SLUICE_CONFIG: join(dir, 'keys.json') }, cwd: dir };
    const { shown } = await inTerminal(['login', '--url', url], asks, options);
    expect(shown).toContain('Logged in');
    expect(ACTIVE.exec(shown)).toBeNull();
    // A reply is printed as it came, unless a terminal would act on it.
    answer = (_request, response) => void response.end(`<title>${ACTS}</title>`);
    const raw = await inTerminal(['api', 'GET', '/users/me'], [], { env: env(), cwd: dir });
    expect(raw.shown).toContain(String.raw`<title>\u001b]0;owned\u0007`);
    expect(ACTIVE.exec(raw.shown)).toBeNull();
  }, 120_000);
});

// docs/reference/command-line.md#requests
describe('a server that wants the key for another', () => {
  it('sends nobody there', async () => {
    let elsewhere = 0;
    const other = await listening((_, response) => {
      elsewhere++;
      response.end('{}');
    });
    for (const status of [301, 302, 307, 308]) {
      answer = ({ url: path }, response) => void response.writeHead(status, { location: `${other}${path}` }).end();
      await each(lines('list', 'events dc_1 -f', 'api GET /users/me', 'deploy hello.mjs'), async (args) => {
        const told = await sluice(...args);
        expect({ args, told }).toMatchObject({ args, told: { status: 1, stdout: '' } });
        expect(told.stderr).toContain(`answered ${status}`);
      });
    }
    expect(elsewhere).toBe(0);
  }, 120_000);
});

describe('a server that answers without end', () => {
  const unexpected = async (...args: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await sluice(...args, '--json');
    expect({ args, status, stdout }).toEqual({ args, status: 1, stdout: '' });
    const failure = JSON.parse(stderr) as { code: string; error: string };
    expect(failure.code).toBe('unexpected_answer');
    return failure.error;
  };

  it('is left when it redirects to itself', async () => {
    answer = ({ url: path }, response) => void response.writeHead(302, { location: path }).end();
    expect(await unexpected('list')).toContain('answered 302');
    expect(asked).toHaveLength(1);
  });

  it('is left when it is no server of Sluice', async () => {
    for (const body of ['<html></html>', '{"data":', '7', `{"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`]) {
      answer = ({ url: path = '' }, response) =>
        void response.end(path === '/v1/users/me' ? JSON.stringify({ data: me }) : body);
      expect(await unexpected('list')).toContain('did not answer with an object');
    }
  }, 60_000);

  it('is left when a list never ends', async () => {
    const page = { data: Array.from({ length: 100 }, () => ({ id: 'dc_1' })) };
    answer = sendJson(200, ({ url: path = '' }) =>
      path.startsWith('/v1/users/me') ? { data: me } : { ...page, page_info: { total_count: 1e9, end_cursor: 'same' } },
    );
    expect(await unexpected('list', '--all')).toContain('answered with the same page twice');
    let pages = 0;
    answer = sendJson(200, ({ url: path = '' }) =>
      path.startsWith('/v1/users/me')
        ? { data: me }
        : { ...page, page_info: { total_count: 1e9, end_cursor: String(pages++) } },
    );
    const told = await sluice('list', '--all');
    expect(told).toMatchObject({ status: 2, stdout: '' });
    expect(told.stderr).toBe(
      'sluice: the list has more than 100000 items, which is more than --all reads: use -n and --after\n',
    );
    expect(pages).toBe(1_000);
  }, 120_000);

  it('is left when a line of a stream never ends, and asked again', async () => {
    let streams = 0;
    answer = (request, response) => {
      const { url: path = '' } = request;
      if (!path.includes('/sse')) return sendJson(200, hostile)(request, response);
      streams++;
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, 'x')));
      };
      response.on('drain', more);
      more();
    };
    const { status, stderr } = await sluice('events', 'dc_1', '-f', '-n', '1', '--for', '15s');
    expect(status).toBe(0);
    expect(stderr).toContain('Connection lost. Trying again in 0 s.');
    expect(streams).toBeGreaterThan(1);
  }, 60_000);
});
