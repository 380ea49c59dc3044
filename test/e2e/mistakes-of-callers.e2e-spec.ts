import { beforeAll, describe } from '@jest/globals';
import { type Dispatcher } from 'undici';
import { type CallOptions, type ErrorBody } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { send, type HttpOptions } from '#test/harness/http.js';
import { useStandalone } from '#test/harness/instance.js';
import { defineMistakes, type Mistake } from './mistakes/mistake.js';

const instance = useStandalone({ env: { SLUICE_MAX_BODY_KB: '8', SLUICE_API_RATE: '50' } });
const { api, server } = instance;
/** What requests refer to: `{source}` in a path, a query or a body stands for the id of this source. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  const source = await instance.deploy(relayCode(), {}, 'orders');
  const webhook = await api.createWebhook(instance.receiver.url, 'receiver');
  const subscription = await api.subscribe(source.id, webhook.id);
  const off = await instance.deploy(relayCode(), {}, 'off');
  await api.expect(200, 'PUT', `/v1/sources/${off.id}`, { body: { active: false } });
  Object.assign(ids, {
    source: source.id,
    component: source.component_id,
    webhook: webhook.id,
    subscription: subscription.id,
    off: off.id,
    endpoint: new URL(instance.endpoint(source)).pathname,
    offEndpoint: new URL(instance.endpoint(off)).pathname,
  });
});

const filled = <T>(value: T): T =>
  value === undefined || Buffer.isBuffer(value)
    ? value
    : (JSON.parse(JSON.stringify(value).replace(/\{(\w+)\}/g, (all, name: string) => ids[name] ?? all)) as T);

const told = (status: number, body: Partial<ErrorBody> & { warnings?: readonly { message: string }[] }): string =>
  body.error !== undefined
    ? `${status} ${body.error}`
    : (body.warnings ?? []).map(({ message }) => `${status}, warning: ${message}`).join('\n');

const call = (mistake: string, method: Dispatcher.HttpMethod, path: string, options: CallOptions = {}): Mistake => ({
  mistake,
  reads: async () => {
    const { status, body, text } = await api.call<Partial<ErrorBody>>(method, filled(path), {
      ...options,
      ...(options.query ? { query: filled(options.query) } : {}),
      ...(options.body === undefined ? {} : { body: filled(options.body) }),
    });
    return status === 200 || body ? told(status, body ?? {}) : `${status} ${text}`;
  },
});

const post = (mistake: string, path: string, options: HttpOptions = {}): Mistake => ({
  mistake,
  reads: async () => {
    const { status, text } = await send(`${server.url}${filled(path)}`, options);
    return `${status} ${text}`;
  },
});

const json = { 'content-type': 'application/json' };
const code = relayCode();

const access: readonly Mistake[] = [
  call('no key', 'GET', '/v1/users/me', { key: null }),
  call('an unknown key', 'GET', '/v1/users/me', { key: 'no-such-key' }),
  call('Basic for Bearer', 'GET', '/v1/users/me', { key: null, headers: { authorization: 'Basic YWRhOnNlY3JldA==' } }),
  call('a key without Bearer', 'GET', '/v1/users/me', { key: null, headers: { authorization: 'my-first-api-key' } }),
  call('Bearer without a key', 'GET', '/v1/users/me', { key: null, headers: { authorization: 'Bearer ' } }),
  call('the key in the query', 'GET', '/v1/users/me', { key: null, query: { api_key: 'my-first-api-key' } }),
  call('another workspace', 'GET', '/v1/users/me/sources', { query: { workspace_id: 'o_nosuchworkspace' } }),
  call('a workspace in the path that there is not', 'GET', '/v1/workspaces/o_nosuchworkspace'),
];

const paths: readonly Mistake[] = [
  call('a forgotten /v1', 'GET', '/sources/{source}'),
  call('a forgotten /v1 in a POST', 'POST', '/sources', { body: { component_code: code } }),
  call('/v2 for /v1', 'GET', '/v2/users/me'),
  call('/api/v1 for /v1', 'GET', '/api/v1/users/me'),
  call('a misspelt path', 'GET', '/v1/users/me/source'),
  call('GET /v1/sources for the list', 'GET', '/v1/sources'),
  call('another method', 'POST', '/v1/users/me'),
  call('PATCH for PUT', 'PATCH', '/v1/sources/{source}', { body: { active: false } }),
  call('DELETE without an id', 'DELETE', '/v1/sources'),
  call('a webhook under sources', 'GET', '/v1/sources/{webhook}'),
  call('a component under sources', 'GET', '/v1/sources/{component}'),
  call('a source that there is not', 'GET', '/v1/sources/dc_nosuchsource'),
  call('a webhook that there is not', 'GET', '/v1/webhooks/wh_nosuchhook'),
  call('the variable of a shell that is not set', 'GET', '/v1/sources//event_summaries'),
  call('a channel $errors eaten by the shell', 'GET', '/v1/sources/{source}//event_summaries'),
];

const bodies: readonly Mistake[] = [
  call('no body', 'POST', '/v1/sources'),
  call('JSON that is cut off', 'POST', '/v1/sources', { body: '{"component_code": "', headers: json }),
  call('JSON with a comma too many', 'POST', '/v1/sources', { body: '{"active": true,}', headers: json }),
  call('JSON with single quotes', 'POST', '/v1/sources', { body: "{'active': true}", headers: json }),
  call('code in place of JSON', 'POST', '/v1/sources', { body: code, headers: json }),
  call('a list', 'POST', '/v1/sources', { body: '[]', headers: json }),
  call('a text', 'POST', '/v1/sources', { body: '"dc_1"', headers: json }),
  call('text/plain', 'POST', '/v1/sources', {
    body: JSON.stringify({ component_code: code }),
    headers: { 'content-type': 'text/plain' },
  }),
  call('JavaScript as content type', 'POST', '/v1/components', {
    body: code,
    headers: { 'content-type': 'application/javascript' },
  }),
  call('multipart', 'POST', '/v1/components', {
    body: '--x--',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  }),
  call('gzip', 'POST', '/v1/components', {
    body: Buffer.from([31, 139, 8, 0]),
    headers: { ...json, 'content-encoding': 'gzip' },
  }),
];

const fields: readonly Mistake[] = [
  call('componentCode', 'POST', '/v1/sources', { body: { componentCode: code } }),
  call('code for component_code', 'POST', '/v1/components', { body: { code } }),
  call('component_code that is a number', 'POST', '/v1/components', { body: { component_code: 5 } }),
  call('component_id of a source', 'POST', '/v1/sources', { body: { component_id: '{source}' } }),
  call('component_id that there is not', 'POST', '/v1/sources', { body: { component_id: 'sc_nosuchcomponent' } }),
  call('configured_props that is a text', 'POST', '/v1/sources', {
    body: { component_code: code, configured_props: 'url=https://example.com' },
  }),
  call('configuredProps', 'POST', '/v1/sources', { body: { component_id: '{component}', configuredProps: {} } }),
  call('is_active', 'PUT', '/v1/sources/{source}', { body: { is_active: false } }),
  call('active that is a text', 'PUT', '/v1/sources/{source}', { body: { active: 'no' } }),
  call('an update of nothing', 'PUT', '/v1/sources/{source}', { body: {} }),
  call('a name that is a number', 'PUT', '/v1/sources/{source}', { body: { name: 5 } }),
  call('a name of 1,000 letters', 'PUT', '/v1/sources/{source}', { body: { name: 'x'.repeat(1_000) } }),
  call('files that is a list', 'POST', '/v1/components', { body: { component_code: code, files: ['a.mjs'] } }),
  call('component_url that is no URL', 'POST', '/v1/components', { body: { component_url: 'orders.mjs' } }),
  call('component_url of a file', 'POST', '/v1/components', { body: { component_url: 'file:///orders.mjs' } }),
  call('component_url of a private address', 'POST', '/v1/components', {
    body: { component_url: 'http://10.0.0.1/orders.mjs' },
  }),
  call('a refresh_token outside of oauth', 'POST', '/v1/accounts', {
    body: { app: 'slack', credentials: { oauth_access_token: 'a' }, refresh_token: 'r' },
  }),
  call('oauth without a refresh token', 'POST', '/v1/accounts', {
    body: { app: 'slack', credentials: {}, oauth: { token_url: 'https://example.com/token', client_id: 'c' } },
  }),
  call('an access token without its expiry', 'POST', '/v1/accounts', {
    body: {
      app: 'slack',
      credentials: { oauth_access_token: 'a' },
      oauth: { token_url: 'https://example.com/token', client_id: 'c', refresh_token: 'r' },
    },
  }),
  call('a variable that is not offered', 'POST', '/v1/accounts', {
    body: { app: 'slack', credentials: { api_key: { $env: 'SLUICE_SECRET_KEY' } } },
  }),
  call('component_url of a closed port', 'POST', '/v1/components', {
    body: { component_url: 'http://127.0.0.1:1/orders.mjs' },
  }),
];

const queries: readonly Mistake[] = [
  call('a limit of 0', 'GET', '/v1/users/me/sources', { query: { limit: '0' } }),
  call('a limit that is a word', 'GET', '/v1/users/me/sources', { query: { limit: 'all' } }),
  call('limt', 'GET', '/v1/users/me/sources', { query: { limt: '5' } }),
  call('a cursor that is none', 'GET', '/v1/users/me/sources', { query: { after: '!!' } }),
  call('expand of something else', 'GET', '/v1/sources/{source}/event_summaries', { query: { expand: 'events' } }),
  call('a deletion from an id that is none', 'DELETE', '/v1/sources/{source}/events', {
    query: { start_id: 'yesterday' },
  }),
  call('a subscription without an emitter', 'POST', '/v1/subscriptions', { query: { listener_id: '{webhook}' } }),
  call('emiter_id', 'POST', '/v1/subscriptions', { query: { emiter_id: '{source}', listener_id: '{webhook}' } }),
  call('a component as emitter', 'POST', '/v1/subscriptions', {
    query: { emitter_id: '{component}', listener_id: '{webhook}' },
  }),
  call('a webhook as emitter', 'POST', '/v1/subscriptions', {
    query: { emitter_id: '{webhook}', listener_id: '{source}' },
  }),
  call('a URL as listener', 'POST', '/v1/subscriptions', {
    query: { emitter_id: '{source}', listener_id: 'https://example.com/hook' },
  }),
  call('an emitter that there is not', 'POST', '/v1/subscriptions', {
    query: { emitter_id: 'dc_nosuchsource', listener_id: '{webhook}' },
  }),
  call('event-name', 'POST', '/v1/subscriptions', {
    query: { emitter_id: '{source}', listener_id: '{webhook}', 'event-name': 'x' },
  }),
  call('the deletion of a subscription that there is not', 'DELETE', '/v1/subscriptions', {
    query: { emitter_id: '{source}', listener_id: '{source}' },
  }),
  call('an automatic subscription whose $errors the shell ate', 'POST', '/v1/auto_subscriptions', {
    query: { event_name: '', listener_id: '{webhook}' },
  }),
  call('a webhook without a URL', 'POST', '/v1/webhooks'),
  call('a webhook whose URL has no scheme', 'POST', '/v1/webhooks', { query: { url: 'example.com/hook' } }),
  call('a webhook on ftp', 'POST', '/v1/webhooks', { query: { url: 'ftp://example.com/hook' } }),
  call('a webhook to a private address', 'POST', '/v1/webhooks', { query: { url: 'http://10.0.0.1/hook' } }),
  call('a redelivery of a delivery that there is not', 'POST', '/v1/webhooks/{webhook}/deliveries/dl_nosuch/redeliver'),
  call('a state at a time that is none', 'GET', '/v1/audit/{source}', { query: { at: 'yesterday' } }),
  call('the history of what there is not', 'GET', '/v1/audit/dc_nosuchsource'),
  call('a run of a source that is off', 'POST', '/v1/sources/{off}/run', { body: {} }),
  call('an event of an app without its name', 'POST', '/v1/apps/chat/events', { body: { payload: {} } }),
  call('an event of an app without a payload', 'POST', '/v1/apps/chat/events', { body: { event_name: 'message' } }),
  call('an event of an app that no source takes', 'POST', '/v1/apps/chat/events', {
    body: { event_name: 'message', payload: {} },
  }),
  call('an event of an app with GET', 'GET', '/v1/apps/chat/events'),
];

const endpoints: readonly Mistake[] = [
  post('an endpoint that there is not', '/h/nosuchkey'),
  post('an endpoint with a letter missing', '{endpoint}x'),
  post('the endpoint of a source that is off', '{offEndpoint}'),
  post('a body beyond the limit', '{endpoint}', { body: 'x'.repeat(9_000) }),
  post('JSON that is none', '{endpoint}', { body: '{"a":', headers: json }),
  post('x-pd-upload-body', '{endpoint}', { body: {}, headers: { 'x-pd-upload-body': '1' } }),
  post('x-pd-nostore with x-pd-notrigger', '{endpoint}', {
    body: {},
    headers: { 'x-pd-nostore': '1', 'x-pd-notrigger': '1' },
  }),
  {
    mistake: 'a client that calls more often than a limit allows',
    reads: async () => {
      for (let n = 0; n < 2_000; n++) {
        const { status, body } = await api.call<ErrorBody>('GET', '/v1/users/me');
        if (status === 429) return told(status, body).replace(/\d+(\.\d+)? s\b/, '<n> s');
      }
      return '';
    },
  },
];

describe('access', () => defineMistakes('Keys and workspaces', access));
describe('paths', () => defineMistakes('Paths', paths));
describe('bodies', () => defineMistakes('Bodies', bodies));
describe('fields', () => defineMistakes('Fields', fields));
describe('queries', () => defineMistakes('Parameters', queries));
describe('endpoints', () => defineMistakes('Endpoints', endpoints));
