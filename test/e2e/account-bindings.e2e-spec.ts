import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';

const instance = useInstance();
const { api } = instance;
const KEY = 'the-key-of-slack';
const OTHERS = 'the-key-of-others';
let account: string;
let foreign: string;
let stranger: SecondWorkspace;

const connectWith = async (client: typeof api, apiKey: string): Promise<string> => {
  const body = { app: 'slack', credentials: { api_key: apiKey } };
  return (await client.expect<Data<{ id: string }>>(200, 'POST', '/v1/accounts', { body })).data.id;
};

beforeAll(async () => {
  stranger = await addWorkspace(instance, 'bob');
  account = await connectWith(api, KEY);
  foreign = await connectWith(stranger.api, OTHERS);
}, 60_000);

const FORM = `const key = (it) => it.slack.$auth.api_key ?? 'no key';
const spell = (text) => [...text].join('.');
export default {
  name: 'Form', version: '0.0.1',
  props: {
    slack: { type: 'app', app: 'slack' },
    fail: { type: 'boolean', optional: true, reloadProps: true },
    pick: { type: 'string', optional: true, options() {
      console.log('options with', key(this));
      if (this.fail) throw new Error('refused with ' + key(this));
      return [spell(key(this))];
    } },
  },
  additionalProps() {
    console.log('props with', key(this));
    if (this.fail) throw new Error('refused with ' + key(this));
    return { more: { type: 'string', description: spell(key(this)), optional: true } };
  },
  run() {},
}`;
const ACTION = `export default {
  name: 'Ask', version: '0.0.1', type: 'action',
  props: { slack: { type: 'app', app: 'slack' }, fail: { type: 'boolean', optional: true } },
  run({ $ }) {
    const key = this.slack.$auth.api_key ?? 'no key';
    console.log('ran with', key);
    if (this.fail) throw new Error('refused with ' + key);
    return [...key].join('.');
  },
}`;
const save = async (code: string): Promise<string> =>
  (await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/components', { body: { component_code: code } })).data.id;

const spelt = (text: string): string => [...text].join('.');
const ROUTES = [
  ['async options', '/v1/components/configure', FORM, { prop_name: 'pick' }],
  ['additionalProps', '/v1/components/props', FORM, {}],
  ['a single run of an action', '/v1/actions/run', ACTION, {}],
] as const;

describe.each(ROUTES)('$auth in %s', (_, path, code, more) => {
  const ask = async (authProvisionId: string, fail = false) => {
    const id = await save(code);
    const configured = { slack: { authProvisionId }, ...(fail ? { fail } : {}) };
    return api.call<ErrorBody>('POST', path, { body: { id, ...more, configured_props: configured } });
  };

  it('holds the credentials, which are masked in what it logs', async () => {
    const { status, text } = await ask(account);
    expect(status).toBe(200);
    expect(text).toContain(spelt(KEY));
    expect(text).toContain('********');
    expect(text).not.toContain(KEY);
  });

  it('is masked in an error', async () => {
    const { text } = await ask(account, true);
    expect(text).toContain('refused with ********');
    expect(text).not.toContain(KEY);
  });

  it('never holds those of another workspace', async () => {
    const { text } = await ask(foreign);
    expect(text).not.toContain(OTHERS);
    expect(text).not.toContain(spelt(OTHERS));
  });
});

describe('an account of another workspace', () => {
  it('is unknown to a deployment', async () => {
    const body = { component_id: await save(FORM), configured_props: { slack: { authProvisionId: foreign } } };
    const { status, body: refused } = await api.call<ErrorBody>('POST', '/v1/sources', { body });
    expect(status).toBe(400);
    expect(refused.error).toContain('there is no account');
  });

  it('is 404 to read, change and delete', async () => {
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect((await api.call(method, `/v1/accounts/${foreign}`)).status).toBe(404);
    expect((await stranger.api.call('GET', `/v1/accounts/${foreign}`)).status).toBe(200);
  });
});
