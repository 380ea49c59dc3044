import { describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

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
      number: { type: 'integer', options() { return [1, { label: 'two', value: 2 }]; } }, fixed: { type: 'string', options: ['a'] }`,
    members: 'run() {},',
  });

/** Adds an HTTP interface or a timer, as `by` says. */
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

describe('POST /v1/components/configure', () => {
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
      },
    ]);
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
});
