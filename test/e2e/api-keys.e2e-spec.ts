import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Data } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly key?: string;
}

describe('API keys', () => {
  // docs/reference/rest-api.md#api-key-fields #api-key-revoke
  it('are shown once, open the API, and are shut out at once when revoked', async () => {
    const { data: made } = await api.expect<Data<ApiKey>>(200, 'POST', '/v1/api_keys', { body: { name: 'Second' } });
    const key = made.key ?? '';
    expect(key).toMatch(/.{16,}/);
    expect((await api.call('GET', '/v1/users/me', { key })).status).toBe(200);
    const listed = await api.call<Data<ApiKey[]>>('GET', '/v1/api_keys');
    expect(listed.body.data.map(({ name }) => name)).toContain('Second');
    expect(listed.text).not.toContain(key);
    await api.expect(204, 'DELETE', `/v1/api_keys/${made.id}`);
    expect((await api.call('GET', '/v1/users/me', { key })).status).toBe(401);
    expect((await api.call('GET', '/v1/users/me')).status).toBe(200);
  });

  it('are kept hashed, and secrets encrypted: no file of the data directory holds one', async () => {
    const { data } = await api.expect<Data<ApiKey>>(200, 'POST', '/v1/api_keys', { body: { name: 'Hidden' } });
    const webhook = await api.createWebhook(instance.receiver.url);
    const code = componentCode({
      props: `${CUSTOM_HTTP}, token: { type: 'string', secret: true }`,
      members: 'run() {},',
    });
    const source = await instance.deploy(code, { token: 'a-secret-prop-of-a-source' });
    expect((await instance.post(source)).status).toBe(200);
    const files = readdirSync(instance.server.dataDir, { recursive: true, encoding: 'utf8' })
      .map((name) => join(instance.server.dataDir, name))
      .filter((file) => statSync(file).isFile());
    expect(files.length).toBeGreaterThan(0);
    const signingKey = webhook.signing_key?.replace('whsec_', '') ?? '';
    for (const secret of [data.key ?? '', instance.server.apiKey, signingKey, 'a-secret-prop-of-a-source']) {
      expect(secret.length).toBeGreaterThan(10);
      expect(files.filter((file) => readFileSync(file).includes(secret))).toEqual([]);
    }
  });
});
