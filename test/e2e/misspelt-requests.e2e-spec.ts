import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Dispatcher } from 'undici';
import { type CallOptions, type ErrorBody } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { REFUSED_BODIES } from './misspelt-requests.bodies.js';
import { REFUSED } from './misspelt-requests.refused.js';

const instance = useInstance();
const { api } = instance;
const ids = { source: '', component: '', webhook: '' };

const CODE = componentCode({
  name: 'Misspelt',
  props: `http: '$.interface.http', feedUrl: 'string',
    color: { type: 'string', optional: true, options: ['red', 'blue'] },
    count: { type: 'integer', optional: true, min: 1, max: 10 },
    app: { type: 'app', app: 'slack' }, store: { type: 'data_store', optional: true }`,
  members: 'run() {}',
});

beforeAll(async () => {
  const source = await instance.deploy(CODE, { feedUrl: 'x' });
  ids.source = source.id;
  ids.component = source.component_id;
  ids.webhook = (await api.createWebhook(instance.receiver.url)).id;
}, 60_000);

/** Puts ids where the tables name what they stand for. */
const withIds = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value).replace(/\{(source|component|webhook)\}/g, (_, name: keyof typeof ids) => ids[name]),
  ) as T;

const call = (method: Dispatcher.HttpMethod, path: string, options: CallOptions) =>
  api.call<Partial<ErrorBody> & { readonly warnings?: unknown }>(method, withIds(path), withIds(options));

describe('a request that cannot work is refused with what to do', () => {
  // docs/reference/rest-api.md#misspelt-parameters
  it.each([...REFUSED, ...REFUSED_BODIES])('%s', async (_title, method, path, options, status, code, error) => {
    const reply = await call(method, path, options);
    expect([reply.status, reply.body.code, reply.body.error]).toEqual([status, code, withIds(error)]);
  });
});

type Warned = readonly [
  string,
  Dispatcher.HttpMethod,
  string,
  CallOptions,
  number,
  readonly Readonly<Record<string, string>>[],
];

const WARNED: readonly Warned[] = [
  [
    'a misspelt limit of a list',
    'GET',
    '/v1/users/me/sources?limt=5',
    {},
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'limt is ignored, because this route has no such parameter; did you mean limit? Allowed are limit, after, before, workspace_id, org_id, include, exclude.',
        path: 'limt',
      },
    ],
  ],
  [
    'a misspelt workspace of a list',
    'GET',
    '/v1/users/me/webhooks?workspaceId=o_1',
    {},
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'workspaceId is ignored, because this route has no such parameter; did you mean workspace_id? Allowed are limit, after, before, workspace_id, org_id, include, exclude.',
        path: 'workspaceId',
      },
    ],
  ],
  [
    'a misspelt cursor',
    'GET',
    '/v1/users/me/sources?affter=x',
    {},
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'affter is ignored, because this route has no such parameter; did you mean after? Allowed are limit, after, before, workspace_id, org_id, include, exclude.',
        path: 'affter',
      },
    ],
  ],
  [
    'a misspelt channel of a list of events',
    'GET',
    '/v1/sources/{source}/event_summaries?event-name=a',
    {},
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'event-name is ignored, because this route has no such parameter; did you mean event_name? Allowed are event_name, expand, limit, after, before, workspace_id, org_id, include, exclude.',
        path: 'event-name',
      },
    ],
  ],
  [
    'a misspelt choice of fields',
    'GET',
    '/v1/sources/{source}?includes=id',
    {},
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'includes is ignored, because this route has no such parameter; did you mean include? Allowed are workspace_id, org_id, include, exclude.',
        path: 'includes',
      },
    ],
  ],
  [
    'a misspelt wait of a run',
    'POST',
    '/v1/sources/{source}/run',
    { body: { wiat: true } },
    202,
    [
      {
        code: 'unknown_parameter',
        message:
          'wiat is ignored, because this route has no such parameter; did you mean wait? Allowed are wait, event, workspace_id, org_id, include, exclude.',
        path: 'wiat',
      },
    ],
  ],
  [
    'a misspelt event of a run',
    'POST',
    '/v1/sources/{source}/run',
    { body: { events: {} } },
    202,
    [
      {
        code: 'unknown_parameter',
        message:
          'events is ignored, because this route has no such parameter; did you mean event? Allowed are wait, event, workspace_id, org_id, include, exclude.',
        path: 'events',
      },
    ],
  ],
  [
    'a misspelt account of an event of an app',
    'POST',
    '/v1/apps/chat/events',
    { body: { event_name: 'x', payload: 1, acount_id: 'apn_1' } },
    202,
    [
      {
        code: 'unknown_parameter',
        message:
          'acount_id is ignored, because this route has no such parameter; did you mean account_id? Allowed are event_name, account_id, payload, workspace_id, org_id, include, exclude.',
        path: 'acount_id',
      },
      {
        code: 'no_source',
        message: 'no active source of this workspace takes the event "x" of the app "chat", so nothing runs',
        path: 'event_name',
      },
    ],
  ],
  [
    'a misspelt active',
    'PUT',
    '/v1/sources/{source}',
    { body: { name: 'Misspelt', is_active: false } },
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'is_active is ignored, because this route has no such parameter; did you mean active? Allowed are component_id, component_code, component_url, file_name, key, component_key, dynamic_props_id, name, active, emit_on_deploy, refresh_packages, ignore_hook_errors, if_updated_at, configured_props, files, workspace_id, org_id, include, exclude.',
        path: 'is_active',
      },
    ],
  ],
  [
    'a misspelt name of a webhook',
    'PUT',
    '/v1/webhooks/{webhook}',
    { body: { naem: 'B' } },
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'naem is ignored, because this route has no such parameter; did you mean name? Allowed are url, name, description, active, timeout_s, max_attempts, ordered, workspace_id, org_id, include, exclude.',
        path: 'naem',
      },
    ],
  ],
  [
    'a misspelt name of an API key',
    'POST',
    '/v1/api_keys',
    { body: { Name: 'B' } },
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'Name is ignored, because this route has no such parameter; did you mean name? Allowed are name, read_only, expires_at, tools, workspace_id, org_id, include, exclude.',
        path: 'Name',
      },
    ],
  ],
  [
    'a misspelt optional prop',
    'PUT',
    '/v1/sources/{source}',
    { body: { configured_props: { colour: 'red' } } },
    200,
    [
      {
        code: 'unknown_prop',
        message:
          'configured_props.colour is ignored, because the component has no such prop; did you mean color? Its props are http, feedUrl, color, count, app, store.',
        path: 'configured_props.colour',
      },
    ],
  ],
  [
    'a value outside of the options',
    'PUT',
    '/v1/sources/{source}',
    { body: { configured_props: { color: 'Red' } } },
    200,
    [
      {
        code: 'not_an_option',
        message: 'prop color got "Red", which is none of its options; did you mean "red"?: "red", "blue"',
        path: 'configured_props.color',
      },
    ],
  ],
];

describe('a request that works is answered with a warning beside data', () => {
  // docs/reference/rest-api.md#reply-warnings #misspelt-parameters
  it.each(WARNED)('%s', async (_title, method, path, options, status, warnings) => {
    const reply = await call(method, path, options);
    expect([reply.status, reply.body.warnings]).toEqual([status, warnings]);
    expect(reply.body).toHaveProperty('data');
  });

  // docs/reference/rest-api.md#unknown-parameters
  it('and a name near nothing without one', async () => {
    const { data } = await api.expect<{ data: unknown }>(
      200,
      'GET',
      withIds('/v1/sources/{source}?utm_campaign=x&include=id'),
    );
    expect(data).toEqual({ id: ids.source });
    const reply = await call('POST', '/v1/sources/{source}/run', { body: { event: {}, telephone: 1 } });
    expect(Object.keys(reply.body)).toEqual(['data']);
  });

  it('and nothing is deleted by a request that is refused', async () => {
    expect((await api.getSource(ids.source)).id).toBe(ids.source);
  });
});
