import { describe, expect, it } from '@jest/globals';
import { type Paged, type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

/** Records its hooks in the db and answers with the record. `tag` tells old code from new. */
const diarist = (tag: string, hooks = ''): string =>
  componentCode({
    props: `${CUSTOM_HTTP}, db: '$.service.db', who: { type: 'string', default: 'nobody' }`,
    members: `
      methods: { note(hook) { this.db.set('diary', [...(this.db.get('diary') ?? []), '${tag} ' + hook + ' ' + this.who]); } },
      hooks: {
        deploy() { this.note('deploy'); },
        activate() { this.note('activate'); },
        deactivate() { this.note('deactivate'); },
        ${hooks}
      },
      run() { this.http.respond({ status: 200, body: this.db.get('diary') ?? [] }); },`,
  });

const diary = async (source: Source): Promise<unknown> => jsonOf(await instance.post(source));
const put = (source: Source, body: Record<string, unknown>) => api.call('PUT', `/v1/sources/${source.id}`, { body });
const listed = async (): Promise<readonly string[]> =>
  (await api.expect<Paged<Source>>(200, 'GET', '/v1/users/me/sources', { query: { limit: '100' } })).data.map(
    ({ id }) => id,
  );

describe('hooks', () => {
  // docs/reference/rest-api.md#source-create
  it('run deploy, then activate, on one db', async () => {
    const source = await instance.deploy(diarist('v1'));
    expect(await diary(source)).toEqual(['v1 deploy nobody', 'v1 activate nobody']);
  });

  // docs/reference/rest-api.md#source-update
  it('run deactivate with old code and props, then activate with new ones, on an update', async () => {
    const source = await instance.deploy(diarist('v1'), { who: 'ann' });
    const reply = await put(source, { component_code: diarist('v2'), configured_props: { who: 'bob' } });
    expect(reply.status).toBe(200);
    expect(await diary(source)).toEqual(['v1 deploy ann', 'v1 activate ann', 'v1 deactivate ann', 'v2 activate bob']);
  });

  it('run once when a source is switched off and on, and not again when it is already off', async () => {
    const source = await instance.deploy(diarist('v1'));
    for (const active of [false, false, true]) expect((await put(source, { active })).status).toBe(200);
    expect(await diary(source)).toEqual([
      'v1 deploy nobody',
      'v1 activate nobody',
      'v1 deactivate nobody',
      'v1 activate nobody',
    ]);
  });

  // docs/reference/rest-api.md#source-deploy-listing #endpoint-service
  it('see the endpoint, which serves requests while activate runs', async () => {
    const code = componentCode({
      props: `${CUSTOM_HTTP}, db: '$.service.db'`,
      members: `
        hooks: {
          deploy() { this.db.set('deployed', this.http.endpoint); },
          async activate() {
            const reply = await fetch(this.http.endpoint + '/verify?challenge=42', { method: 'POST' });
            this.db.set('verified', [reply.status, await reply.text(), this.db.get('deployed') === this.http.endpoint]);
          },
        },
        run(event) {
          const body = event.query.challenge ? event.path + ' ' + event.query.challenge : this.db.get('verified');
          this.http.respond({ status: 200, body });
        },`,
    });
    const source = await instance.deploy(code);
    expect(jsonOf(await instance.post(source))).toEqual([200, '/verify 42', true]);
  });

  it('may emit, before the source is listed as deployed', async () => {
    const code = componentCode({
      members: `hooks: { deploy() { for (const n of [1, 2, 3]) this.$emit({ n }, { summary: 'past ' + n }); } }, run() {},`,
    });
    expect(await instance.payloads(await instance.deploy(code), 3)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const silent = await api.createSource({ component_code: code, emit_on_deploy: false });
    expect((await api.summaries(silent.id)).data).toEqual([]);
  });

  // docs/reference/rest-api.md#source-busy
  it('answer 409 to a second operation while one runs', async () => {
    const slow = diarist(
      'v1',
      `async activate() { this.note('activate'); await new Promise((r) => setTimeout(r, 800)); },`,
    );
    const source = await instance.deploy(slow);
    const replies = await Promise.all([
      put(source, { active: false }),
      put(source, { name: 'Two' }),
      put(source, { name: 'Three' }),
    ]);
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    expect(statuses).toContain(409);
    const refused = replies.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'source_busy' });
  });
});

describe('a hook that throws', () => {
  // docs/reference/rest-api.md#source-create-failure
  it('on deployment: 422 with observations, and nothing remains of the source', async () => {
    const before = await listed();
    const seen: string[] = [];
    instance.receiver.behave((_n, { path }) => {
      seen.push(path);
      return {};
    });
    const code = componentCode({
      props: `http: '$.interface.http'`,
      members: `hooks: {
        async activate() {
          console.log('subscribing');
          await fetch(this.http.endpoint);
          throw new TypeError('the remote said no');
        },
        async deactivate() { await fetch(${JSON.stringify(instance.receiver.url)} + '/cleaned-up'); },
      }, run() {},`,
    });
    const reply = await api.call('POST', '/v1/sources', { body: { component_code: code } });
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({
      error: 'observation error',
      err: null,
      code: 'hook_failed',
      observations: expect.arrayContaining([
        expect.objectContaining({ k: 'hook', ts: expect.any(Number), h: 'activate' }),
        expect.objectContaining({
          k: 'error',
          ts: expect.any(Number),
          err: { name: 'TypeError', message: 'the remote said no', stack: expect.stringContaining('TypeError') },
        }),
      ]),
    });
    expect(await listed()).toEqual(before);
    expect(seen).toContain('/hook/cleaned-up');
  });

  // docs/reference/rest-api.md#source-update-failure
  it('on an update: 422, and the old code and props apply again', async () => {
    const source = await instance.deploy(diarist('v1'), { who: 'ann' });
    const bad = diarist('v2', `activate() { this.note('activate'); throw new Error('not like this'); },`);
    const reply = await put(source, { component_code: bad, configured_props: { who: 'bob' }, name: 'Changed' });
    expect(reply).toMatchObject({ status: 422, body: { code: 'hook_failed' } });
    expect(await api.getSource(source.id)).toMatchObject({
      name: source.name,
      component_id: source.component_id,
      active: true,
    });
    expect(await diary(source)).toEqual([
      'v1 deploy ann',
      'v1 activate ann',
      'v1 deactivate ann',
      'v2 activate bob',
      'v1 activate ann',
    ]);
  });

  // docs/reference/rest-api.md#source-update-failure #source-delete
  it('in deactivate: an update changes nothing, a delete keeps the source, unless hook errors are ignored', async () => {
    const source = await instance.deploy(diarist('v1', `deactivate() { throw new Error('stay'); },`));
    expect(await put(source, { configured_props: { who: 'eve' }, name: 'Moved' })).toMatchObject({
      status: 422,
      body: { code: 'hook_failed' },
    });
    expect((await api.getSource(source.id)).name).toBe(source.name);
    expect((await api.call('DELETE', `/v1/sources/${source.id}`)).status).toBe(422);
    expect(await diary(source)).toEqual(['v1 deploy nobody', 'v1 activate nobody']);
    const query = { ignore_hook_errors: 'true' };
    expect((await api.call('DELETE', `/v1/sources/${source.id}`, { query })).status).toBe(204);
    expect((await api.call('GET', `/v1/sources/${source.id}`)).status).toBe(404);
  });

  it('runs deactivate on delete', async () => {
    const code = componentCode({
      members: `hooks: { async deactivate() { await fetch(${JSON.stringify(instance.receiver.url)} + '/goodbye'); } }, run() {},`,
    });
    const source = await instance.deploy(code);
    await api.deleteSource(source.id);
    expect(instance.receiver.received.map(({ path }) => path)).toContain('/hook/goodbye');
    expect((await send(instance.endpoint(source))).status).toBe(404);
  });
});
