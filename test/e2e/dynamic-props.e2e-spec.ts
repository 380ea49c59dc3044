import { describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace } from '#test/harness/second-workspace.js';

const instance = useInstance();
const { api } = instance;

const save = async (code: string): Promise<string> =>
  (await api.expect<{ data: { id: string } }>(200, 'POST', '/v1/components', { body: { component_code: code } })).data
    .id;
const configure = (body: object) => api.call('POST', '/v1/components/configure', { body: { ...body } });
const propsOf = (body: object) => api.call('POST', '/v1/components/props', { body: { ...body } });

const optionsCode = (): string =>
  componentCode({
    head: `const app = { type: 'app', app: 'pages', methods: { list(n) { return ['p' + n, 'q' + n]; } }, propDefinitions: {
      item: { type: 'string', options({ page, prevContext, query, list }) {
        console.log('page ' + page);
        if (query === 'fail') throw Object.assign(new Error('no such list'), { name: 'ConfigurationError' });
        return { options: this.list(list + (prevContext.next ?? '') + (query ?? '')), context: { next: '-more' } };
      } } } };`,
    props: `app, list: 'string', item: { propDefinition: [app, 'item', (c) => ({ list: c.list })] },
      number: { type: 'integer', options() { return [1, { label: 'two', value: 2 }]; } }, fixed: { type: 'string', options: ['a'] },
      asked: { type: 'string', options({ page, prevContext, query }) { return [JSON.stringify([page, prevContext, typeof query])]; } }`,
    members: 'run() {},',
  });

/** Adds an HTTP interface or a timer, depending on `by`. */
const eitherCode = (): string =>
  componentCode({
    props: `by: { type: 'string', options: ['http', 'timer'], reloadProps: true }, note: { type: 'string', optional: true, hidden: true }`,
    members: `additionalProps(defs) {
        if (this.by === 'fail') throw Object.assign(new Error('choose http or timer'), { name: 'ConfigurationError' });
        defs.note.hidden = false;
        return this.by === 'http'
          ? { http: { type: '$.interface.http', customResponse: true }, count: { type: 'integer', max: 9 },
              token: { type: 'string', secret: true, default: 'hush-hush' }, pick: { type: 'string', optional: true, options() { return ['x' + this.by]; } } }
          : { timer: { type: '$.interface.timer', default: { intervalSeconds: 3600 } } };
      },
      run() { this.http?.respond({ status: 200, body: { count: this.count, token: this.token } }); },`,
  });

/** Adds `more` props, and reports which ones it saw. */
const countingCode = (): string =>
  componentCode({
    props: `more: 'integer'`,
    members: `additionalProps(defs) {
        const seen = Object.keys(defs).filter((name) => name.startsWith('p')).length;
        const added = Array.from({ length: this.more }, (_, n) => ['p' + n, { type: 'integer', optional: true }]);
        return { ...Object.fromEntries(added), ['saw' + seen]: { type: 'boolean', default: true } };
      },
      run() {},`,
  });

describe('POST /v1/components/configure', () => {
  // docs/reference/rest-api.md#configure
  it('pages through the options of an app, with query and values of propDefinition', async () => {
    const id = await save(optionsCode());
    const asked = { id, prop_name: 'item', configured_props: { list: 'L' } };
    const first = await configure(asked);
    expect([first.status, first.body]).toEqual([
      200,
      {
        options: null,
        string_options: ['pL', 'qL'],
        context: { next: '-more' },
        observations: [{ k: 'console.log', ts: expect.any(Number), msg: 'page 0' }],
        errors: [],
        warnings: [{ code: 'no_account', path: 'configured_props.app', message: expect.any(String) }],
      },
    ]);
    const elsewhere = { id, prop_name: 'item', configured_props: { app: { authProvisionId: 'apn_elsewhere' } } };
    expect((await configure(elsewhere)).body).toMatchObject({
      warnings: [{ code: 'no_account', message: expect.stringContaining('"apn_elsewhere"') }],
    });
    const second = await configure({ ...asked, page: 1, prev_context: { next: '-more' }, query: '?' });
    expect(second.body).toMatchObject({ string_options: ['pL-more?', 'qL-more?'] });
    expect((await configure({ id, prop_name: 'number' })).body).toMatchObject({
      options: [
        { label: '1', value: 1 },
        { label: 'two', value: 2 },
      ],
      string_options: null,
      context: null,
    });
  });

  it('gives the first call page 0 and an empty prevContext, and null is the same as nothing', async () => {
    const id = await save(optionsCode());
    for (const asked of [{}, { page: null, prev_context: null }, { prev_context: {} }]) {
      const { status, body } = await configure({ id, prop_name: 'asked', ...asked });
      expect([status, body]).toMatchObject([200, { string_options: [expect.stringMatching(/^\[0,\{\},/)] }]);
    }
  });

  // docs/reference/rest-api.md#configure
  it('tells what the method threw, and refuses a prop without one', async () => {
    const id = await save(optionsCode());
    const failed = await configure({ id, prop_name: 'item', query: 'fail' });
    expect([failed.status, failed.body]).toMatchObject([
      200,
      { options: null, string_options: null, errors: ['ConfigurationError: no such list'] },
    ]);
    for (const prop of ['fixed', 'nothing']) {
      const refused = await configure({ id, prop_name: prop });
      expect([refused.status, refused.body]).toMatchObject([400, { code: 'invalid_call' }]);
    }
    const unknown = await configure({ id: 'sc_0000000000', prop_name: 'item' });
    expect([unknown.status, unknown.body]).toMatchObject([404, { code: 'component_not_found' }]);
  });
});

describe('POST /v1/components/props', () => {
  // docs/reference/rest-api.md#dynamic-props #dynamic-props-id
  it('returns every prop under an id, which the options of a dynamic prop and a deployment take', async () => {
    const id = await save(eitherCode());
    const found = await propsOf({ id, configured_props: { by: 'http' } });
    expect(found.status).toBe(200);
    const { dynamic_props: dynamic } = found.body as {
      dynamic_props: { id: string; configurable_props: readonly { name: string; hidden?: boolean }[] };
    };
    expect(dynamic.id).toMatch(/^dyp_/);
    expect(dynamic.configurable_props.map(({ name }) => name)).toEqual([
      'by',
      'note',
      'http',
      'count',
      'token',
      'pick',
    ]);
    expect(dynamic.configurable_props[1]).toMatchObject({ hidden: false });
    const more = { dynamic_props_id: dynamic.id, configured_props: { by: 'http' } };
    expect((await configure({ id, prop_name: 'pick', ...more })).body).toMatchObject({ string_options: ['xhttp'] });
    const deployed = await api.call('POST', '/v1/sources', {
      body: { component_id: id, ...more, configured_props: { by: 'http', count: 3 } },
    });
    expect(deployed.status).toBe(200);
    const other = await save(eitherCode());
    const foreign = await propsOf({ id: other, dynamic_props_id: dynamic.id });
    expect([foreign.status, foreign.body]).toMatchObject([404, { code: 'dynamic_props_not_found' }]);
  });

  // docs/reference/rest-api.md#dynamic-props
  it('refuses with the message of the component', async () => {
    const failed = await propsOf({ id: await save(eitherCode()), configured_props: { by: 'fail' } });
    expect([failed.status, failed.body]).toMatchObject([
      400,
      { code: 'additional_props_failed', error: expect.stringContaining('choose http or timer') },
    ]);
  });
});

describe('a source with additionalProps', () => {
  const put = (source: Source, body: Record<string, unknown>) => api.call('PUT', `/v1/sources/${source.id}`, { body });

  it('gets the endpoint and the values that they add, and other ones after an update', async () => {
    const source = await instance.deploy(eitherCode(), { by: 'http', count: '5' });
    expect(source.configured_props).toMatchObject({ by: 'http', count: 5, token: '********' });
    const endpoint = instance.endpoint(source);
    expect(await jsonOf(await instance.post(source))).toEqual({ count: 5, token: 'hush-hush' });

    const changed = await put(source, { configured_props: { count: 6 } });
    expect(changed.status).toBe(200);
    expect(await jsonOf(await send(endpoint, {}))).toEqual({ count: 6, token: 'hush-hush' });

    const timed = await put(source, { configured_props: { by: 'timer' } });
    expect((timed.body as { data: Source }).data.configured_props).toEqual({
      by: 'timer',
      timer: { cron: null, interval_seconds: 3600 },
    });
    expect((await send(endpoint, {})).status).toBe(404);
  });

  /** Props that additionalProps returned for these values, as the form keeps them. */
  const idOf = async (component: string, configured_props: object): Promise<string> => {
    const { status, body } = await propsOf({ id: component, configured_props });
    expect(status).toBe(200);
    return (body as { dynamic_props: { id: string } }).dynamic_props.id;
  };

  it('is updated with the dynamic props of a form, which additionalProps sees and the values must fit', async () => {
    const source = await instance.deploy(countingCode(), { more: 2 });
    expect(source.configured_props).toEqual({ more: 2, saw0: true });
    const dynamic_props_id = await idOf(source.component_id, { more: 3 });
    const changed = await put(source, { dynamic_props_id, configured_props: { more: 3 } });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { data: { configured_props: { more: 3, saw3: true } } },
    ]);
    // Without the id it sees those of the source.
    await put(source, { configured_props: { more: 1 } });
    const again = await put(source, { configured_props: { more: 2 } });
    expect((again.body as { data: Source }).data.configured_props).toEqual({ more: 2, saw1: true });
    const wrong = await put(source, { dynamic_props_id, configured_props: { more: 1, p0: 'x' } });
    expect([wrong.status, wrong.body]).toMatchObject([400, { code: 'invalid_prop', details: { prop: 'p0' } }]);
  });

  it('is not updated with dynamic props of other code, of no form, or that made room', async () => {
    const source = await instance.deploy(countingCode(), { more: 1 });
    const other = await save(countingCode());
    const expired = `dyp_${'0'.repeat(40)}`;
    const given = [await idOf(other, { more: 2 }), expired, 'dyp_', 'sc_1', '../x'];
    for (const dynamic_props_id of given) {
      const refused = await put(source, { dynamic_props_id, configured_props: { more: 2 } });
      expect([dynamic_props_id, refused.status, refused.body]).toMatchObject([
        dynamic_props_id,
        404,
        { code: 'dynamic_props_not_found', error: expect.stringContaining('ask POST /v1/components/props again') },
      ]);
    }
    const { data } = await api.expect<{ data: Source }>(200, 'GET', `/v1/sources/${source.id}`);
    expect([data.configured_props, data.updated_at]).toEqual([source.configured_props, source.updated_at]);
  });

  it.each([
    [{ by: 'http' }, 'missing_prop', 'count'],
    [{ by: 'http', count: 10 }, 'invalid_prop', 'count'],
    [{ by: 'fail' }, 'additional_props_failed', 'choose http or timer'],
  ])('is refused with %j', async (configured_props, code, text) => {
    const { status, body } = await api.call('POST', '/v1/sources', {
      body: { component_code: eitherCode(), configured_props },
    });
    expect([status, body]).toMatchObject([400, { code, error: expect.stringContaining(text) }]);
  });

  // Restarts the server, because the command line makes the other workspace.
  // docs/reference/rest-api.md#dynamic-props-id
  it('is not updated with dynamic props of another workspace', async () => {
    const code = countingCode();
    const source = await instance.deploy(code, { more: 1 });
    const { api: stranger } = await addWorkspace(instance, 'stranger');
    const theirs = await stranger.call<{ data: { id: string } }>('POST', '/v1/components', {
      body: { component_code: code },
    });
    const form = await stranger.call<{ dynamic_props: { id: string } }>('POST', '/v1/components/props', {
      body: { id: theirs.body.data.id, configured_props: { more: 2 } },
    });
    await stranger.close();
    const { id } = form.body.dynamic_props;
    expect(id).toMatch(/^dyp_/);
    const refused = await put(source, { dynamic_props_id: id, configured_props: { more: 2 } });
    expect([refused.status, refused.body]).toMatchObject([404, { code: 'dynamic_props_not_found' }]);
  }, 120_000);
});
