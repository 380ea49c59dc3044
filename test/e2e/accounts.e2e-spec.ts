import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Account {
  readonly id: string;
  readonly app: { readonly name_slug: string };
  readonly credentials?: object;
}

const { api } = useInstance();
const connect = (body: object) => api.call<Data<Account> & ErrorBody>('POST', '/v1/accounts', { body });
const code = `export default {
  name: 'App user', version: '0.0.1',
  props: { slack: { type: 'app', app: 'slack' }, http: '$.interface.http' },
  async run() { this.$emit({ key: this.slack.$auth.api_key }) },
}`;
const deploy = (authProvisionId: string) =>
  api.call<Data<{ id: string }> & ErrorBody>('POST', '/v1/sources', {
    body: { component_code: code, configured_props: { slack: { authProvisionId } } },
  });

describe('a connected account', () => {
  // docs/reference/rest-api.md#accounts #account-connect
  it('gives a source its credentials, and new ones after a change', async () => {
    const { body } = await connect({ app: 'slack', name: 'Team', credentials: { api_key: 'first-key' } });
    const account = body.data.id;
    expect(body.data).toMatchObject({ id: expect.stringMatching(/^apn_/), app: { name_slug: 'slack' } });
    const source = (await deploy(account)).body.data.id;
    const runs = async (key: string): Promise<void> => {
      await eventually(`an event with ${key}`, async () => {
        await api.call('POST', `/v1/sources/${source}/run`, { body: { wait: true, event: {} } });
        const { text } = await api.call('GET', `/v1/sources/${source}/event_summaries?expand=event`);
        return text.includes(key) ? true : undefined;
      });
    };
    await runs('first-key');
    await api.call('PUT', `/v1/accounts/${account}`, { body: { credentials: { api_key: 'second-key' } } });
    await runs('second-key');
  });

  // docs/reference/rest-api.md#account-credentials-shown
  it('shows its credentials only when asked, and the audit says so', async () => {
    const { body } = await connect({ app: 'slack', credentials: { api_key: 'hidden-key' } });
    const path = `/v1/accounts/${body.data.id}`;
    expect((await api.call('GET', path)).text).not.toContain('hidden-key');
    const shown = await api.call<Data<Account>>('GET', `${path}?include_credentials=true`);
    expect(shown.body.data.credentials).toEqual({ api_key: 'hidden-key' });
    const { text } = await api.call('GET', `/v1/audit/${body.data.id}`);
    expect(text).toContain('AccountCredentialsShown');
    expect(text).not.toContain('hidden-key');
  });

  // docs/reference/rest-api.md#configured-app
  it('is refused for a prop of another app', async () => {
    const { body } = await connect({ app: 'github', credentials: { token: 'abcd' } });
    const { status, body: refused } = await deploy(body.data.id);
    expect(status).toBe(400);
    expect(refused.error).toMatch(/"github".*"slack"/);
  });

  // docs/reference/rest-api.md#account-connect
  it('refuses a variable that the operator does not offer', async () => {
    const { status, body } = await connect({ app: 'slack', credentials: { api_key: { $env: 'HOME' } } });
    expect(status).toBe(422);
    expect(body.error).toContain('SLUICE_ACCOUNT_ENV');
  });

  it('is gone after a DELETE', async () => {
    const { body } = await connect({ app: 'slack', credentials: { api_key: 'abcd' } });
    expect((await api.call('DELETE', `/v1/accounts/${body.data.id}`)).status).toBe(204);
    expect((await api.call('GET', `/v1/accounts/${body.data.id}`)).status).toBe(404);
  });

  it('is masked in logs and errors', async () => {
    const { body } = await connect({ app: 'slack', credentials: { api_key: 'masked-key' } });
    const leaking = code.replace(
      'this.$emit({ key:',
      'console.log("said", this.slack.$auth.api_key); throw new Error(',
    );
    const component = leaking.replace('api_key })', 'api_key)');
    const configured = { slack: { authProvisionId: body.data.id } };
    const deployed = await api.call<Data<{ id: string }>>('POST', '/v1/sources', {
      body: { component_code: component, configured_props: configured },
    });
    const source = deployed.body.data.id;
    await api.call('POST', `/v1/sources/${source}/run`, { body: { wait: true, event: {} } });
    for (const channel of ['$logs', '$errors']) {
      const text = await eventually(`a masked text on ${channel}`, async () => {
        const reply = await api.call('GET', `/v1/sources/${source}/${channel}/event_summaries?expand=event`);
        return reply.text.includes('********') ? reply.text : undefined;
      });
      expect(text).not.toContain('masked-key');
    }
  });

  // docs/reference/rest-api.md#account-delete
  it('leaves a source that uses it running, with an empty $auth, after a DELETE', async () => {
    const { body } = await connect({ app: 'slack', credentials: { api_key: 'lost-key' } });
    const source = (await deploy(body.data.id)).body.data.id;
    await api.call('DELETE', `/v1/accounts/${body.data.id}`);
    await eventually('an event without a key', async () => {
      await api.call('POST', `/v1/sources/${source}/run`, { body: { wait: true, event: {} } });
      const { text } = await api.call('GET', `/v1/sources/${source}/event_summaries?expand=event`);
      return /"event":\{\}|"e":\{\}/.test(text) ? true : undefined;
    });
  });
});
