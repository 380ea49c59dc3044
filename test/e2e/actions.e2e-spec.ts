import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import http from 'node:http';
import { type AddressInfo } from 'node:net';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace } from '#test/harness/second-workspace.js';

interface Observation {
  readonly k: string;
  readonly msg?: string;
  readonly err?: { readonly name: string; readonly message: string; readonly stack: string };
}
interface Reply {
  readonly exports: Record<string, unknown>;
  readonly os: readonly Observation[];
  readonly ret: unknown;
  readonly error: string;
  readonly code: string;
  readonly details: Record<string, unknown>;
}

describe('POST /v1/actions/run', () => {
  const instance = useInstance({ env: { SLUICE_RUN_TIMEOUT_S: '4' } });
  const { api } = instance;
  let service: http.Server;
  let url: string;
  const received: { method: string | undefined; url: string | undefined; auth: string | undefined; body: string }[] =
    [];

  beforeAll(async () => {
    service = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        received.push({ method: request.method, url: request.url, auth: request.headers.authorization, body });
        response.writeHead(request.url === '/missing' ? 404 : 200, { 'content-type': 'application/json' });
        response.end('{"found":true}');
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  });

  const save = async (members: string, props = ''): Promise<string> => {
    const code = componentCode({
      props,
      members: `type: 'action', ${members}`,
      head: `import { axios } from '@pipedream/platform';`,
    });
    const saved = await api.call<{ data: { id: string } }>('POST', '/v1/components', {
      body: { component_code: code },
    });
    expect(saved.status).toBe(200);
    return saved.body.data.id;
  };
  const run = (id: string, configuredProps: object = {}, more: object = {}) =>
    api.call<Reply>('POST', '/v1/actions/run', { body: { id, configured_props: configuredProps, ...more } });
  const runCode = async (members: string, configuredProps: object = {}, props = '') =>
    run(await save(members, props), configuredProps);

  it('warns of an app prop without an account, also beside an error, and so do the forms of props', async () => {
    const app = `chat: { type: 'app', app: 'chat' }, room: { type: 'string', optional: true, async options() { return ['a']; } }`;
    const id = await save(
      `additionalProps() { return {}; }, run() { return this.chat.$auth.oauth_access_token.length; },`,
      app,
    );
    const warnings = [{ code: 'no_account', path: 'configured_props.chat' }];
    const ran = await run(id);
    expect(ran).toMatchObject({ status: 422, body: { details: { name: 'TypeError', warnings } } });
    const form = async (route: string, body: object) => (await api.call('POST', route, { body: { id, ...body } })).body;
    const asked = { configured_props: {} };
    expect(await form('/v1/components/configure', { prop_name: 'room', ...asked })).toMatchObject({ warnings });
    expect(await form('/v1/components/props', asked)).toMatchObject({ warnings });
    const plain = await save('run() { return 1; },', app);
    expect((await run(plain)).body).toMatchObject({ ret: 1, warnings });
    expect((await runCode('run() { return 1; },')).body).not.toHaveProperty('warnings');
  });

  // docs/reference/rest-api.md#action-run
  it('answers with exports, observations and the returned value, by id and by key', async () => {
    const code = componentCode({
      key: 'greet-somebody',
      props: `name: 'string', times: { type: 'integer', default: 2 }`,
      members: `type: 'action', methods: { greeting() { return 'Hello ' + this.name; } }, async run({ $, steps }) {
        $.export('greeted', 'nobody');
        $.export('greeted', this.name);
        $.export('$summary', 'Greeted ' + this.name);
        console.log('steps', typeof steps);
        return { text: this.greeting(), times: this.times, emit: typeof this.$emit };
      }`,
    });
    const saved = await api.call<{ data: { id: string } }>('POST', '/v1/components', {
      body: { component_code: code },
    });
    for (const id of [saved.body.data.id, 'greet-somebody']) {
      const reply = await run(id, { name: 'Ada' });
      expect(reply.status).toBe(200);
      expect(reply.body).toEqual({
        exports: { greeted: 'Ada', $summary: 'Greeted Ada' },
        os: [{ k: 'console.log', ts: expect.any(Number), msg: 'steps object' }],
        ret: { text: 'Hello Ada', times: 2, emit: 'undefined' },
      });
    }
  });

  // docs/reference/rest-api.md#action-failure
  it('answers 422 with the observations and the error, and shows no secret in them', async () => {
    const reply = await runCode(
      `async run({ $ }) { $.export('a', 1); console.log('token is', this.token); throw Object.assign(new TypeError('bad ' + this.token), { code: 'E_BAD' }); }`,
      { token: 'very-secret-token' },
      `token: { type: 'string', secret: true }`,
    );
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({
      error: 'TypeError: bad ********',
      code: 'action_failed',
      details: { name: 'TypeError', message: 'bad ********', error_code: 'E_BAD' },
      os: [
        { k: 'console.log', msg: 'token is ********' },
        {
          k: 'error',
          err: { name: 'TypeError', message: 'bad ********', stack: expect.stringContaining('component.js') },
        },
      ],
    });
    expect(reply.text).not.toContain('very-secret');
  });

  // docs/reference/rest-api.md#action-observations
  it('gives $.context, and records what only a workflow does', async () => {
    const reply = await runCode(`async run({ $ }) {
      $.respond({ status: 201, body: 'hi' });
      const { resume_url } = $.flow.suspend(1000, { a: 1 });
      $.flow.delay(5);
      $.flow.rerun(10, null, 3);
      $.send.email({ subject: 's', text: 't' });
      $.send.sse({ channel: 'c', payload: 1 });
      const refreshed = $.flow.refreshTimeout() === $.context.deadline;
      let refused; try { $.send.http({ url: 'nowhere' }); } catch (error) { refused = error.message; }
      let shape; try { $.send.emit({ raw_event: 5 }); } catch (error) { shape = error.message; }
      $.flow.exit('enough');
      return { context: $.context, resume_url, refreshed, refused, shape };
    }`);
    expect(reply.status).toBe(200);
    expect(reply.body.ret).toMatchObject({
      context: {
        id: expect.stringMatching(/^act_/),
        owner_id: expect.stringMatching(/^o_/),
        JIT: false,
        replay: false,
        workflow_id: null,
        run: { runs: 1 },
        deadline: expect.any(Number),
      },
      resume_url: null,
      refreshed: true,
      refused: '$send.http: invalid value "nowhere" for url',
      shape: '$send.emit: invalid value 5 for raw_event',
    });
    expect(reply.body.os.map(({ k, msg }) => `${k}: ${msg ?? ''}`)).toEqual([
      'warning: $.respond: a single run has no caller, so the reply with status 201 reaches nobody',
      'flow.suspend: 1000 ms, with context {"a":1}: a single run does not pause',
      'flow.delay: 5 ms: a single run does not pause',
      'flow.rerun: 10 ms, at most 3 times, with context null: a single run is not repeated',
      'warning: $.send.email: only workflows deliver it, so this single run of an action does not send it',
      'warning: $.send.sse: only workflows deliver it, so this single run of an action does not send it',
      'flow.exit: enough',
    ]);
  });

  it('sends what $.send.http took after the run, through the guard', async () => {
    received.length = 0;
    const reply = await runCode(
      `async run({ $ }) {
        $.send.http({ method: 'PUT', url: this.url + '/sent?a=1', params: { b: [2, 3] }, data: { c: 4 }, auth: { username: 'u', password: 'p' } });
        $.send.http({ url: 'http://169.254.169.254/latest' });
        $.export('before', 'sent');
      }`,
      { url },
      `url: 'string'`,
    );
    expect(received).toEqual([{ method: 'PUT', url: '/sent?a=1&b=2&b=3', auth: 'Basic dTpw', body: '{"c":4}' }]);
    expect(reply.body.ret).toBeNull();
    const lines = reply.body.os.map(({ k, msg }) => `${k}: ${msg ?? ''}`).sort();
    expect(lines).toEqual([
      `send.http: PUT ${url}/sent: 200 {"found":true}`,
      expect.stringMatching(/^warning: \$\.send\.http: GET http:\/\/169\.254\.169\.254\/latest failed: /),
    ]);
  });

  it('gives the exports of axios for people who debug, and http_request props that send', async () => {
    const reply = await runCode(
      `async run({ $ }) {
        const { found } = await this.request.execute();
        await axios($, { url: this.request.url + '/ok', debug: true });
        await axios($, { url: this.request.url + '/missing' }).catch(() => undefined);
        return { found, dir: this.dir };
      }`,
      { request: { method: 'GET', url } },
      `request: 'http_request', dir: 'dir'`,
    );
    expect(reply.body).toMatchObject({
      ret: { found: true, dir: expect.stringMatching(/^\//) },
      exports: {
        debug_config: { url: `${url}/ok` },
        debug_response: { status: 200, data: { found: true } },
        debug: { status: 404, data: { found: true } },
      },
    });
  });

  it.each([
    ['a source', `type: 'source', run() {}`, {}, 400, 'component_not_an_action'],
    ['a missing prop', `run() {}`, {}, 400, 'missing_prop'],
    ['a wrong prop', `run() {}`, { n: 'many' }, 400, 'invalid_prop'],
  ])('refuses %s', async (_what, members, configuredProps, status, code) => {
    const reply = await runCode(members, configuredProps, `n: 'integer'`);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
  });

  it('takes the props that additionalProps adds, by dynamic_props_id or called anew', async () => {
    const members = `additionalProps() { return this.kind === 'note' ? { text: { type: 'string' } } : {}; },
      run() { return [this.kind, this.text]; }`;
    const action = await save(members, `kind: { type: 'string', reloadProps: true }`);
    const body = { id: action, configured_props: { kind: 'note' } };
    const asked = await api.call<{ dynamic_props: { id: string } }>('POST', '/v1/components/props', { body });
    const more = { dynamic_props_id: asked.body.dynamic_props.id };
    expect(await run(action, { kind: 'note', text: 'hello' }, more)).toMatchObject({
      status: 200,
      body: { ret: ['note', 'hello'] },
    });
    expect((await run(action, { kind: 'note', text: 'hello' })).body.ret).toEqual(['note', 'hello']);
    expect((await run(action, { kind: 'note' })).body).toMatchObject({
      code: 'missing_prop',
      details: { prop: 'text' },
    });
    const other = await save('run() {}', `kind: { type: 'string', reloadProps: true }`);
    const foreign = await run(other, { kind: 'note' }, more);
    expect([foreign.status, foreign.body.code]).toEqual([404, 'dynamic_props_not_found']);
    const stranger = await addWorkspace(instance, 'stranger-of-actions');
    const code = componentCode({ props: '', members: `type: 'action', run() {}` });
    const own = await stranger.api.createComponent(code);
    const reply = await stranger.api.call<Reply>('POST', '/v1/actions/run', { body: { id: own.id, ...more } });
    expect([reply.status, reply.body.code]).toEqual([404, 'dynamic_props_not_found']);
  }, 400_000);

  it('refuses unknown components, those of another workspace, and callers without a key', async () => {
    expect((await run('sc_doesnotexist')).status).toBe(404);
    expect((await run('no-such-key')).status).toBe(404);
    const withId = await run(await save('run() {}'), {}, { dynamic_props_id: 'dyp_1' });
    expect([withId.status, withId.body.code]).toEqual([404, 'dynamic_props_not_found']);
    expect((await api.call('POST', '/v1/actions/run', { key: null, body: { id: 'x' } })).status).toBe(401);
    expect((await api.call<Reply>('POST', '/v1/actions/run')).body.code).toBe('missing_parameter');
  });

  it.each([
    ['loops', 'run() { for (;;); }', 'Timeout'],
    ['exits', 'run() { process.exit(0); }', 'ProcessExited'],
    ['exports too much', `run({ $ }) { $.export('big', 'x'.repeat(10_000_000)); }`, 'FunctionPayloadLimitExceeded'],
    ['returns too much', `run() { return 'x'.repeat(10_000_000); }`, 'FunctionPayloadLimitExceeded'],
    ['returns no JSON', `run() { return 10n; }`, 'Error'],
    [
      'forges answers',
      `run() { const fs = require('node:fs'); const json = Buffer.from('["v",1]'); const raw = Buffer.from('{"exports":[]}');
        const head = Buffer.alloc(12); head.writeUInt32LE(2, 0); head.writeUInt32LE(json.length, 4); head.writeUInt32LE(raw.length, 8);
        fs.writeSync(4, Buffer.concat([head, json, raw])); }`,
      'ProcessExited',
    ],
  ])('answers 422 for an action that %s', async (_what, members, code) => {
    const reply = await runCode(members);
    expect([reply.status, reply.body.code, reply.body.details['error_code']]).toEqual([422, 'action_failed', code]);
  });

  const COUNTING = `type: 'action', async run() {
    count++;
    if (this.what === 'hang') await new Promise(() => setInterval(() => undefined, 1000));
    if (this.what === 'wait') await new Promise((resolve) => setTimeout(resolve, 500));
    return [born, count];
  }`;
  const counting = (name: string, key?: string): string =>
    componentCode({
      name,
      ...(key === undefined ? {} : { key }),
      head: 'let count = 0; const born = Math.random();',
      props: `what: { type: 'string', optional: true }`,
      members: COUNTING,
    });
  const counted = async (id: string, what = '', by = api): Promise<readonly [born: number, count: number]> => {
    const body = { id, configured_props: { what } };
    const reply = await by.call<{ ret: readonly [number, number] }>('POST', '/v1/actions/run', { body });
    expect(reply.status).toBe(200);
    return reply.body.ret;
  };

  // docs/reference/component-model.md#action-process
  it('uses one process for calls that follow each other, and never for another action, version or workspace', async () => {
    // The server starts again for it, so it comes first.
    const neighbour = await addWorkspace(instance, 'neighbour-of-actions');
    // By key, so that the version saved later takes its place.
    const id = 'counting-one';
    await api.createComponent(counting('One', id));
    const [born] = await counted(id);
    expect(await counted(id)).toEqual([born, 2]);
    const others = [
      await counted((await api.createComponent(counting('One'))).id),
      await counted((await api.createComponent(counting('Two'))).id),
    ];
    const same = await neighbour.api.createComponent(counting('One'));
    others.push(await counted(same.id, '', neighbour.api));
    expect(others.map(([, count]) => count)).toEqual([1, 1, 1]);
    expect(await counted(id)).toEqual([born, 3]);
    await api.createComponent(counting('One, again', id));
    expect((await counted(id))[1]).toBe(1);
    await neighbour.api.close();
  }, 120_000);

  it('runs two calls at once in two processes, and goes on in a new one after a time-out', async () => {
    const { id } = await api.createComponent(counting('At once'));
    const both = await Promise.all([counted(id, 'wait'), counted(id, 'wait')]);
    expect(both.map(([, count]) => count)).toEqual([1, 1]);
    const [born, count] = await counted(id);
    expect(count).toBe(2);
    const hung = await run(id, { what: 'hang' });
    expect([hung.status, hung.body.details['error_code']]).toEqual([422, 'Timeout']);
    // The one that hung was the one used last. The other one, or a new one, serves the next call.
    const [next] = await counted(id);
    expect(next).not.toBe(born);
  }, 120_000);
});
