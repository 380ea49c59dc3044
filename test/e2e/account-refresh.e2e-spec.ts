import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Account {
  readonly id: string;
  readonly healthy: boolean;
  readonly dead: boolean;
  readonly error: string | null;
  readonly expires_at: number | null;
  readonly last_refreshed_at: number | null;
  readonly credentials?: Readonly<Record<string, unknown>>;
}

const { api, server: sluice } = useInstance();
let server: Server;
let tokenUrl: string;
/** Refresh tokens in the order in which the token server got them. */
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((req, res) => {
    void readText(req).then((body) => {
      const token = new URLSearchParams(body).get('refresh_token') ?? '';
      asked.push(token);
      res.setHeader('content-type', 'application/json');
      if (token.startsWith('silent')) return;
      if (token.startsWith('revoked'))
        res.writeHead(400).end(`{"error":"invalid_grant","error_description":"${token}"}`);
      else if (token.startsWith('moved')) res.writeHead(302, { location: '/elsewhere' }).end();
      else {
        const round = asked.filter((each) => each.startsWith(token.slice(0, 5))).length;
        const name = token.slice(0, 5);
        res.end(
          JSON.stringify({ access_token: `${name}-access-${round}`, refresh_token: `${name}-${round}`, expires_in: 2 }),
        );
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  tokenUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const connect = async (refreshToken: string, more: object = {}): Promise<string> => {
  const oauth = {
    token_url: tokenUrl,
    client_id: 'the-client',
    client_secret: 'its-secret',
    refresh_token: refreshToken,
  };
  const body = { app: 'slack', credentials: {}, oauth: { ...oauth, ...more } };
  return (await api.expect<Data<Account>>(200, 'POST', '/v1/accounts', { body })).data.id;
};
const code = `export default {
  name: 'App user', version: '0.0.1',
  props: { slack: { type: 'app', app: 'slack' } },
  async run() {
    console.log('used', this.slack.$auth.oauth_access_token);
    this.$emit({ with: this.slack.$auth.oauth_access_token, client: this.slack.$auth.oauth_client_id });
  },
}`;
const deploy = async (authProvisionId: string): Promise<string> => {
  const body = { component_code: code, configured_props: { slack: { authProvisionId } } };
  return (await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/sources', { body })).data.id;
};
const run = (source: string) => api.call('POST', `/v1/sources/${source}/run`, { body: { wait: true, event: {} } });
const seen = async (source: string, words: string, channel = ''): Promise<string> =>
  eventually(`${words} on ${channel}`, async () => {
    await run(source);
    const path = `/v1/sources/${source}${channel}/event_summaries?expand=event`;
    const { text } = await api.call('GET', path);
    return text.includes(words) ? text : undefined;
  });
const shown = async (id: string, query = ''): Promise<Account> =>
  (await api.expect<Data<Account>>(200, 'GET', `/v1/accounts/${id}${query}`)).data;

describe('a connected account with oauth', () => {
  // docs/reference/rest-api.md#account-refresh
  it('gives a source a fresh token before the first run, and again after each expiry', async () => {
    const id = await connect('first');
    const source = await deploy(id);
    expect(await seen(source, 'first-access-1')).toContain('the-client');
    await seen(source, 'first-access-2');
    const used = asked.filter((token) => token.startsWith('first'));
    // Each rotated token was used once.
    expect(new Set(used).size).toBe(used.length);
    const account = await shown(id, '?include_credentials=true');
    expect(account).toMatchObject({ healthy: true, dead: false, error: null, expires_at: expect.any(Number) });
    expect(account.credentials).toHaveProperty('oauth_refresh_token');
    expect(JSON.stringify(account)).not.toContain('its-secret');
    const { text } = await api.call('GET', `/v1/sources/${source}/$logs/event_summaries?expand=event`);
    expect(text).not.toContain('first-access');
  });

  // docs/reference/rest-api.md#account-refresh-failed #account-fields
  it('tells the source and the account when its token is revoked, and works again after a PUT', async () => {
    const id = await connect('revoked-token');
    const source = await deploy(id);
    const errors = await seen(source, 'AccountNotRefreshed', '/$errors');
    expect(errors).toContain(`PUT /v1/accounts/${id}`);
    expect(errors).toContain('invalid_grant');
    expect(errors).not.toContain('revoked-token');
    expect(await shown(id)).toMatchObject({
      healthy: false,
      dead: true,
      error: expect.stringContaining('invalid_grant'),
    });
    await run(source);
    // A dead token is not tried again.
    expect(asked.filter((token) => token === 'revoked-token')).toHaveLength(1);
    const oauth = { token_url: tokenUrl, client_id: 'c', refresh_token: 'again' };
    await api.expect(200, 'PUT', `/v1/accounts/${id}`, { body: { credentials: {}, oauth } });
    await seen(source, 'again-access-1');
    expect(await shown(id)).toMatchObject({ healthy: true, dead: false, error: null });
  });

  it('follows no redirect, and reaches no private address', async () => {
    const moved = await connect('moved-token');
    expect(await seen(await deploy(moved), 'AccountNotRefreshed', '/$errors')).toContain('answered 302');
    const inside = await connect('inner', { token_url: 'http://169.254.169.254/token' });
    const errors = await seen(await deploy(inside), 'AccountNotRefreshed', '/$errors');
    expect(errors).toContain('169.254.169.254');
    expect(asked).not.toContain('inner');
  });

  it.each([
    ['an unknown field', { tokenUrl: 'x' }, /oauth\.tokenUrl is unknown/],
    ['no refresh token', { refresh_token: null }, /oauth\.refresh_token is missing/],
    ['a file', { token_url: 'file:///etc/passwd' }, /oauth\.token_url must be an http/],
    ['two expiries', { expires_in: 1, expires_at: 1 }, /exclude each other/],
  ])('refuses %s', async (_, more, words) => {
    const oauth = { token_url: tokenUrl, client_id: 'c', refresh_token: 'r', ...more };
    const { status, body } = await api.call<ErrorBody>('POST', '/v1/accounts', {
      body: { app: 'slack', credentials: {}, oauth },
    });
    expect(status).toBe(400);
    expect(body.error).toMatch(words);
  });
});

describe('a server that is killed while a token server keeps it waiting', () => {
  it('lets the event wait after its start, and still stops in order', async () => {
    const id = await connect('silent');
    const source = await deploy(id);
    await api.expect(202, 'POST', `/v1/sources/${source}/run`, { body: { event: {} } });
    await eventually('the token server is asked', () => (asked.includes('silent') ? true : undefined), 60_000);
    await sluice.kill9();
    await sluice.start();
    // It is not visible from outside that the event waits.
    await pause(2_000);
    expect(await sluice.stop()).toBe(0);
    await sluice.start();
    const path = `/v1/sources/${source}/$errors/event_summaries`;
    expect((await api.expect<Data<unknown[]>>(200, 'GET', path)).data).toEqual([]);
    expect(await shown(id)).toMatchObject({ dead: false, error: null });
    expect(asked.filter((token) => token === 'silent')).toHaveLength(1);
  }, 400_000);
});
