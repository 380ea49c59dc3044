import { describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api, server } = instance;

/** Calls the test from the hook that it is asked to hang in. */
const HANGING = `
const hang = async (self, hook) => {
  if (self.hangs !== hook) return;
  await fetch(self.url + '/' + hook);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
};
export default {
  key: 'hanging', name: 'Hanging', version: '0.0.1', type: 'source',
  props: { hangs: { type: 'string', optional: true }, url: { type: 'string' } },
  hooks: {
    async deploy() { await hang(this, 'deploy'); },
    async deactivate() { await hang(this, 'deactivate'); },
  },
  run() {},
};`;

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly id: string }[];
}

const sources = async (): Promise<readonly string[]> =>
  (await api.expect<Data<{ readonly id: string }[]>>(200, 'GET', '/v1/users/me/sources')).data.map(({ id }) => id);

/** Kills the server while the hook of the request runs. */
const killedIn = async (hook: string, request: Promise<unknown>): Promise<void> => {
  const answer = request.catch(() => 'no answer');
  await instance.receiver.until(`the hook ${hook}`, () =>
    instance.receiver.received.some(({ path }) => path.endsWith(`/${hook}`)),
  );
  await server.kill9();
  expect(await answer).toBe('no answer');
  await server.start();
};

// docs/adr/0074-sources-of-workflows.md
describe('a server that is killed while a workflow changes its sources', () => {
  const definition = (external_id: string, hangs?: string) => ({
    external_id,
    triggers: [
      { type: 'source', name: 'a', uses: 'hanging', props: { url: instance.receiver.url } },
      { type: 'source', name: 'b', uses: 'hanging', props: { url: instance.receiver.url, ...(hangs && { hangs }) } },
    ],
    steps: [],
  });

  it('leaves nothing of a creation, and all of a workflow that was to be deleted', async () => {
    await api.expect(200, 'POST', '/v1/components', { body: { component_code: HANGING } });
    await killedIn('deploy', api.call('POST', '/v1/workflows', { body: definition('new', 'deploy') }));
    expect((await api.call('GET', '/v1/workflows/ext:new')).status).toBe(404);
    expect(await sources()).toEqual([]);

    const body = definition('old', 'deactivate');
    const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
    const ids = data.triggers.map(({ id }) => id).sort();
    await killedIn('deactivate', api.call('DELETE', '/v1/workflows/ext:old'));
    expect(await api.expect(200, 'GET', '/v1/workflows/ext:old')).toMatchObject({
      data: { triggers: [{ active: true }, { active: true }] },
    });
    expect([...(await sources())].sort()).toEqual(ids);

    const changed = await api.expect<Data<Workflow>>(200, 'PUT', '/v1/workflows/ext:old', {
      body: definition('old'),
    });
    expect(changed.data.triggers.map(({ id }) => id).sort()).toEqual(ids);
    await api.expect(204, 'DELETE', '/v1/workflows/ext:old');
    expect(await sources()).toEqual([]);
  }, 180_000);
});
