import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Dispatcher } from 'undici';
import { type CallOptions, type ErrorBody } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

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

type Refused = readonly [string, Dispatcher.HttpMethod, string, CallOptions, number, string, string];

const REFUSED: readonly Refused[] = [
  [
    'a misspelt field of a component',
    'POST',
    '/v1/components',
    { body: { componentCode: 'x' } },
    400,
    'component_reference_missing',
    'component_code is missing; did you mean it by componentCode? Allowed are component_code, component_url, files, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt URL of a component',
    'POST',
    '/v1/components',
    { body: { component_uri: 'https://a.example/x.mjs' } },
    400,
    'component_reference_missing',
    'component_url is missing; did you mean it by component_uri? Allowed are component_code, component_url, files, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt component of a source',
    'POST',
    '/v1/sources',
    { body: { componentId: '{component}' } },
    400,
    'component_reference_missing',
    'component_id is missing; did you mean it by componentId? Allowed are component_id, component_code, component_url, key, component_key, name, active, emit_on_deploy, ignore_hook_errors, if_updated_at, configured_props, files, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt change of a source',
    'PUT',
    '/v1/sources/{source}',
    { body: { is_activ: false, nmae: 'B' } },
    400,
    'component_reference_missing',
    'name is missing; did you mean it by nmae? Allowed are component_id, component_code, component_url, key, component_key, name, active, emit_on_deploy, ignore_hook_errors, if_updated_at, configured_props, files, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt emitter',
    'POST',
    '/v1/subscriptions?emiter_id={source}&listener_id={webhook}',
    {},
    400,
    'missing_parameter',
    'emitter_id is missing; did you mean it by emiter_id? Allowed are emitter_id, listener_id, event_name, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt listener in the body',
    'POST',
    '/v1/subscriptions',
    { body: { emitter_id: '{source}', listenerId: '{webhook}' } },
    400,
    'missing_parameter',
    'listener_id is missing; did you mean it by listenerId? Allowed are emitter_id, listener_id, event_name, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt URL of a webhook',
    'POST',
    '/v1/webhooks',
    { body: { uri: 'https://a.example' } },
    400,
    'missing_parameter',
    'url is missing; did you mean it by uri? Allowed are url, name, description, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt required prop',
    'POST',
    '/v1/sources',
    { body: { component_id: '{component}', configured_props: { feed_url: 'x' } } },
    400,
    'missing_prop',
    'prop feedUrl (string) is missing in configured_props; did you mean it by feed_url? Its props are http, feedUrl, color, count, app, store.',
  ],
  [
    'misspelt configured_props',
    'POST',
    '/v1/sources',
    { body: { component_id: '{component}', configuredProps: { feedUrl: 'x' } } },
    400,
    'missing_prop',
    'configured_props is missing; did you mean it by configuredProps? Allowed are component_id, component_code, component_url, key, component_key, name, active, emit_on_deploy, ignore_hook_errors, if_updated_at, configured_props, files, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt channel of a deletion of a subscription',
    'DELETE',
    '/v1/subscriptions?emitter_id={source}&listener_id={webhook}&event-name=a',
    {},
    400,
    'invalid_parameter',
    'there is no parameter event-name; did you mean event_name? Nothing was deleted. Allowed are emitter_id, listener_id, event_name, workspace_id, org_id.',
  ],
  [
    'a misspelt range of a deletion of events',
    'DELETE',
    '/v1/sources/{source}/events?startId=1-0',
    {},
    400,
    'invalid_parameter',
    'there is no parameter startId; did you mean start_id? Nothing was deleted. Allowed are start_id, end_id, event_name, workspace_id, org_id, include, exclude.',
  ],
  [
    'a misspelt flag of a deletion of a source',
    'DELETE',
    '/v1/sources/{source}?ignore_hook_error=true',
    {},
    400,
    'invalid_parameter',
    'there is no parameter ignore_hook_error; did you mean ignore_hook_errors? Nothing was deleted. Allowed are ignore_hook_errors, workspace_id, org_id.',
  ],
  [
    'an integer below its minimum',
    'PUT',
    '/v1/sources/{source}',
    { body: { configured_props: { count: 0 } } },
    400,
    'invalid_prop',
    'prop count must be an integer of at least 1; got 0',
  ],
  [
    'an integer above its maximum',
    'PUT',
    '/v1/sources/{source}',
    { body: { configured_props: { count: 11 } } },
    400,
    'invalid_prop',
    'prop count must be an integer of at most 10; got 11',
  ],
  [
    'a component as emitter',
    'POST',
    '/v1/subscriptions?emitter_id={component}&listener_id={webhook}',
    {},
    400,
    'invalid_emitter',
    'emitter_id must be one of dc_… (a source), p_… (a workflow), dc_* (all sources), p_* (all workflows), o_… (errors of a workspace), u_… (errors of a user); got {component}, the id of a component',
  ],
  [
    'a component as listener',
    'POST',
    '/v1/subscriptions?emitter_id={source}&listener_id={component}',
    {},
    400,
    'invalid_listener',
    'listener_id must be one of dc_… (a source), p_… (a workflow), wh_… (a webhook); got {component}, the id of a component',
  ],
  [
    'a workflow as listener',
    'POST',
    '/v1/subscriptions?emitter_id={source}&listener_id=p_abc123',
    {},
    404,
    'listener_not_found',
    'listener_id: there is no p_abc123 in this workspace, because workflows are not built yet',
  ],
  [
    'a webhook in place of a source',
    'GET',
    '/v1/sources/{webhook}',
    {},
    404,
    'source_not_found',
    'there is no source {webhook} in your workspaces: wh_… is the id of a webhook, and the id of a source begins with dc_',
  ],
  [
    'a source in place of a webhook',
    'GET',
    '/v1/webhooks/{source}',
    {},
    404,
    'webhook_not_found',
    'there is no webhook {source}: dc_… is the id of a source, and the id of a webhook begins with wh_',
  ],
  [
    'a source in place of a component',
    'POST',
    '/v1/sources',
    { body: { component_id: '{source}' } },
    404,
    'component_not_found',
    'there is no component with the key {source} in your workspaces: dc_… is the id of a source, and the id of a component begins with sc_',
  ],
  [
    'a component in the path of events',
    'GET',
    '/v1/sources/{component}/event_summaries',
    {},
    404,
    'source_not_found',
    'there is no source {component}: sc_… is the id of a component, and the id of a source begins with dc_',
  ],
  [
    'a limit that is no number',
    'GET',
    '/v1/users/me/sources?limit=many',
    {},
    400,
    'invalid_parameter',
    'parameter limit must be an integer from 1 to 100; got many',
  ],
  [
    'an account',
    'PUT',
    '/v1/sources/{source}',
    { body: { configured_props: { app: { authProvisionId: 'apn_123' } } } },
    400,
    'invalid_prop',
    'prop app (app): there is no account "apn_123", because accounts are not built yet: leave the prop out, and give the token in a prop of type string with secret: true',
  ],
  [
    'a data store',
    'PUT',
    '/v1/sources/{source}',
    { body: { configured_props: { store: 'ds_1' } } },
    400,
    'invalid_prop',
    'prop store (data_store): data stores are not built yet: leave the prop out, or keep the data in $.service.db',
  ],
  [
    'a path without /v1',
    'GET',
    '/users/me',
    {},
    404,
    'route_not_found',
    'there is no route GET /users/me; did you mean GET /v1/users/me?',
  ],
  [
    'a path of another version',
    'GET',
    '/v2/users/me/sources',
    {},
    404,
    'route_not_found',
    'there is no route GET /v2/users/me/sources; did you mean GET /v1/users/me/sources?',
  ],
  [
    'a misspelt segment',
    'GET',
    '/v1/source/{source}',
    {},
    404,
    'route_not_found',
    'there is no route GET /v1/source/{source}; did you mean GET /v1/sources/{source}?',
  ],
  [
    'a misspelt segment without /v1',
    'POST',
    '/webhook',
    {},
    404,
    'route_not_found',
    'there is no route POST /webhook; did you mean POST /v1/webhooks?',
  ],
  [
    'auto-subscriptions',
    'POST',
    '/v1/auto_subscriptions?event_name=$errors&listener_id={webhook}',
    {},
    404,
    'route_not_found',
    'there is no route POST /v1/auto_subscriptions: auto-subscriptions are not built yet: subscribe to dc_* with POST /v1/subscriptions',
  ],
  [
    'workflows',
    'GET',
    '/v1/workflows/p_abc123/event_summaries',
    {},
    404,
    'route_not_found',
    'there is no route GET /v1/workflows/p_abc123/event_summaries: workflows are not built yet',
  ],
  [
    'a live stream',
    'GET',
    '/v1/sources/{source}/sse',
    {},
    404,
    'route_not_found',
    'there is no route GET /v1/sources/{source}/sse: live streams are not built yet: poll event_summaries',
  ],
  [
    'async options',
    'POST',
    '/v1/components/configure',
    { body: {} },
    405,
    'method_not_allowed',
    '/v1/components/configure takes GET, HEAD, not POST: async options and additionalProps are not built yet',
  ],
  [
    'accounts',
    'GET',
    '/v1/users/me/accounts',
    {},
    404,
    'route_not_found',
    'there is no route GET /v1/users/me/accounts: accounts are not built yet',
  ],
  [
    'an unknown path',
    'GET',
    '/v1/nothing/at/all',
    {},
    404,
    'route_not_found',
    'there is no route GET /v1/nothing/at/all',
  ],
  [
    'a body of another type',
    'POST',
    '/v1/webhooks',
    { body: 'url=x', headers: { 'content-type': 'text/plain' } },
    415,
    'unsupported_media_type',
    'a body of content type text/plain cannot be read: send JSON with Content-Type: application/json',
  ],
  [
    'a body without a type',
    'POST',
    '/v1/webhooks',
    { body: 'hello' },
    415,
    'unsupported_media_type',
    'the body has no content type: send JSON with Content-Type: application/json',
  ],
  [
    'JSON sent as a form',
    'POST',
    '/v1/webhooks',
    { body: '{"url":"https://a.example"}', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'unsupported_media_type',
    'the body is JSON, but its content type is application/x-www-form-urlencoded, which curl -d sends by itself: send it with Content-Type: application/json',
  ],
  [
    'JSON that is cut off',
    'POST',
    '/v1/webhooks',
    { body: '{"url":', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_json',
    'the body is not valid JSON at position 7: Unexpected end of JSON input',
  ],
  [
    'JSON with a fault',
    'POST',
    '/v1/webhooks',
    { body: '{"url":x}', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_json',
    "the body is not valid JSON at position 7: Unexpected token 'x'",
  ],
  [
    'an array',
    'POST',
    '/v1/webhooks',
    { body: '[1]', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_json',
    'the body must be a JSON object of parameters by name, such as {"name": "…"}; got an array',
  ],
  [
    'a text',
    'POST',
    '/v1/webhooks/{webhook}/regenerate_signing_key',
    { body: '"x"', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_json',
    'the body must be a JSON object of parameters by name, such as {"name": "…"}; got a string',
  ],
  [
    'a sample event that the component lacks',
    'POST',
    '/v1/sources/{source}/sample_emit',
    {},
    409,
    'no_sample',
    'source {source} has no sample event: the component must export an event as sampleEmit; it exports nothing (component {component})',
  ],
];

describe('a request that cannot work is refused with what to do', () => {
  it.each(REFUSED)('%s', async (_title, method, path, options, status, code, error) => {
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
    'a misspelt active',
    'PUT',
    '/v1/sources/{source}',
    { body: { name: 'Misspelt', is_active: false } },
    200,
    [
      {
        code: 'unknown_parameter',
        message:
          'is_active is ignored, because this route has no such parameter; did you mean active? Allowed are component_id, component_code, component_url, key, component_key, name, active, emit_on_deploy, ignore_hook_errors, if_updated_at, configured_props, files, workspace_id, org_id, include, exclude.',
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
          'naem is ignored, because this route has no such parameter; did you mean name? Allowed are url, name, description, active, workspace_id, org_id, include, exclude.',
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
          'Name is ignored, because this route has no such parameter; did you mean name? Allowed are name, workspace_id, org_id, include, exclude.',
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
  it.each(WARNED)('%s', async (_title, method, path, options, status, warnings) => {
    const reply = await call(method, path, options);
    expect([reply.status, reply.body.warnings]).toEqual([status, warnings]);
    expect(reply.body).toHaveProperty('data');
  });

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
