import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { type HttpAnswer, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Trigger {
  readonly id: string | null;
  readonly name: string;
  readonly endpoint_url: string;
  readonly configured_props: Readonly<Record<string, { readonly endpoint_url: string }>>;
}
interface Workflow {
  readonly id: string;
  readonly name: string;
  readonly version: number | null;
  readonly deployment_id: string | null;
  readonly has_draft: boolean;
  readonly active: boolean;
  readonly revision: number;
  readonly triggers: readonly Trigger[];
  readonly subscriptions: readonly object[];
  readonly steps: readonly object[];
  readonly definition: object;
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly version: number;
  readonly event: unknown;
}

const { api } = useInstance();

const answering = (text: string) => ({
  namespace: 'a',
  code: `export default { async run({ $ }) { await $.respond({ status: 200, body: ${JSON.stringify(text)} }) } }`,
});
const hook = (more: object = {}) => ({ type: 'http', name: 'hook', response: 'custom', ...more });
const token = (text: string) => ({ auth: { type: 'bearer', token: text } });
const body = (triggers: readonly object[], steps: readonly object[], more: object = {}) => ({
  name: 'Orders',
  triggers,
  steps,
  ...more,
});
const saved = async (path: string, given: object): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, path === '' ? 'POST' : 'PUT', `/v1/workflows${path}`, { body: given })).data;
const drafted = (path: string, given: object): Promise<Workflow> => saved(path, { ...given, draft: true });
const read = async ({ id }: Workflow, query: Record<string, string> = {}): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'GET', `/v1/workflows/${id}`, { query })).data;
const draftOf = (workflow: Workflow): Promise<Workflow> => read(workflow, { draft: 'true' });
const deployed = async ({ id }: Workflow): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'POST', `/v1/workflows/${id}/deploy`)).data;
const call = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', { id }: Workflow, path: string, options: object = {}) =>
  api.call<ErrorBody & { readonly data?: Workflow }>(method, `/v1/workflows/${id}${path}`, options);
const trigger = ({ triggers }: Workflow, name: string): Trigger => {
  const found = triggers.find((each) => each.name === name);
  if (!found) throw new Error(`the workflow has no trigger ${name}`);
  return found;
};
const hit = (workflow: Workflow, bearer?: string): Promise<HttpAnswer> =>
  send(trigger(workflow, 'hook').endpoint_url, {
    body: {},
    ...(bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } }),
  });

// docs/reference/workflows.md#drafts
describe('the draft of a workflow', () => {
  it('16: changes nothing until it is deployed', async () => {
    const first = await saved('', body([hook()], [answering('old')]));
    expect(first.has_draft).toBe(false);
    const draft = await drafted(
      `/${first.id}`,
      body([hook(), { type: 'timer', interval_seconds: 60 }], [answering('new')]),
    );
    expect(draft).toMatchObject({ version: 1, deployment_id: first.deployment_id, has_draft: true });
    expect(draft.revision).toBeGreaterThan(first.revision);
    expect(await draftOf(first)).toEqual(draft);
    expect(await read(first)).toMatchObject({
      version: 1,
      has_draft: true,
      revision: draft.revision,
      triggers: first.triggers,
      steps: first.steps,
      definition: first.definition,
    });
    expect((await hit(first)).text).toBe('old');
    const yaml = await call('GET', first, '', { query: { draft: 'true', format: 'yaml' } });
    expect(yaml.text).toContain('interval_seconds: 60');

    const second = await deployed(first);
    expect(second).toMatchObject({ version: 2, has_draft: false, definition: draft.definition });
    expect((await hit(first)).text).toBe('new');
    expect(await read(first)).toEqual(second);
    expect(await call('POST', first, '/deploy')).toMatchObject({ status: 404, body: { code: 'no_draft' } });
    expect(await call('GET', first, '?draft=true')).toMatchObject({ status: 404, body: { code: 'no_draft' } });
  });

  it('is replaced, and discarded on request and by any deployment', async () => {
    const first = await saved('', body([], [answering('a')]));
    await drafted(`/${first.id}`, body([], [answering('b')]));
    const again = await drafted(`/${first.id}`, body([], [answering('c')]));
    expect(await drafted(`/${first.id}`, body([], [answering('c')]))).toEqual(again);
    expect((await draftOf(first)).definition).toMatchObject({ steps: [answering('c')] });
    expect((await call('DELETE', first, '/draft')).status).toBe(204);
    expect(await call('DELETE', first, '/draft')).toMatchObject({ status: 404, body: { code: 'no_draft' } });
    expect(await read(first)).toMatchObject({ version: 1, has_draft: false, definition: first.definition });

    const discarding: readonly (() => Promise<unknown>)[] = [
      () => saved(`/${first.id}`, body([], [answering('d')])),
      () => saved(`/${first.id}`, { settings: { queue_size: 7 } }),
      () => api.expect(200, 'POST', `/v1/workflows/${first.id}/rollback`, { body: { version: 1 } }),
    ];
    for (const discard of discarding) {
      await drafted(`/${first.id}`, body([], [answering('x')]));
      await discard();
      expect(await read(first)).toMatchObject({ has_draft: false });
    }
    const draft = await drafted(`/${first.id}`, body([], [answering('x')]));
    await saved(`/${first.id}`, { description: 'is no deployment' });
    expect((await draftOf(first)).definition).toEqual(draft.definition);
  });

  it('makes no version when it equals the one in force', async () => {
    const first = await saved('', body([hook()], [answering('a')]));
    await drafted(`/${first.id}`, body([hook()], [answering('a')]));
    expect(await deployed(first)).toMatchObject({ version: 1, deployment_id: first.deployment_id, has_draft: false });
  });

  it('keeps what is no part of a version for its deployment', async () => {
    const first = await saved('', body([hook()], [answering('a')], { external_id: 'drafts/face' }));
    const face = { name: 'Later', external_id: 'drafts/later', active: false };
    const draft = await drafted(`/${first.id}`, body([hook()], [answering('b')], face));
    expect(draft).toMatchObject({ name: 'Orders', external_id: 'drafts/face', active: true });
    expect(draft.definition).toMatchObject({ name: 'Later', external_id: 'drafts/later' });
    expect((await hit(first)).text).toBe('a');
    expect(await deployed(first)).toMatchObject({ ...face, version: 2 });
    expect(await read({ ...first, id: 'ext:drafts%2Flater' })).toMatchObject({ id: first.id });
  });

  it('may come before the first deployment, which activates the workflow', async () => {
    const draft = await drafted('', body([hook()], [answering('a')]));
    expect(draft).toMatchObject({ version: null, deployment_id: null, has_draft: true, active: false });
    const empty = { version: null, active: false, triggers: [], steps: [], definition: { name: 'Orders', steps: [] } };
    expect(await read(draft)).toMatchObject(empty);
    expect((await hit(draft)).status).toBe(404);
    const { data } = await api.expect<Data<Workflow[]>>(200, 'GET', '/v1/workflows', { query: { active: 'false' } });
    expect(data.find(({ id }) => id === draft.id)).toMatchObject({ has_draft: true, trigger_types: [] });
    for (const [method, path, given] of [
      ['PUT', '', { active: true }],
      ['PUT', '', { settings: { queue_size: 5 } }],
      ['POST', '/invoke', {}],
    ] as const)
      expect([path, await call(method, draft, path, { body: given })]).toMatchObject([
        path,
        { status: 409, body: { code: 'not_deployed' } },
      ]);
    expect(await call('POST', draft, '/rollback', { body: { version: 1 } })).toMatchObject({ status: 404 });
    const named = await drafted(`/${draft.id}`, body([hook()], [answering('b')], { name: 'Named' }));
    expect(named).toMatchObject({ name: 'Named', version: null });
    const first = await deployed(draft);
    expect(first).toMatchObject({ version: 1, active: true, name: 'Named', has_draft: false });
    expect(trigger(first, 'hook')).toEqual(trigger(draft, 'hook'));
    expect((await hit(first)).text).toBe('b');

    const inactive = await drafted('', body([hook()], [answering('a')], { active: false }));
    expect(await deployed(inactive)).toMatchObject({ version: 1, active: false });
    const discarded = await drafted('', body([], [answering('a')]));
    await call('DELETE', discarded, '/draft');
    expect(await saved(`/${discarded.id}`, body([], [answering('b')]))).toMatchObject({ version: 1, active: true });
  });

  it('is created by PUT under an external id, once', async () => {
    const put = () => drafted('/ext:drafts%2Fnew', body([], [answering('a')]));
    const [one, other] = await Promise.all([put(), put()]);
    expect(other.id).toBe(one.id);
    expect(await draftOf(one)).toMatchObject({ version: null, external_id: 'drafts/new' });
  });

  it('is deployed from the revision that the request names, and once for one key', async () => {
    const first = await saved('', body([], [answering('a')]));
    const draft = await drafted(`/${first.id}`, body([], [answering('b')]));
    const old = { headers: { 'if-match': `"${first.revision}"` } };
    expect((await call('POST', first, '/deploy', old)).status).toBe(412);
    expect((await call('DELETE', first, '/draft', old)).status).toBe(412);
    const once = { headers: { 'if-match': `"${draft.revision}"`, 'idempotency-key': 'deploys-once' } };
    const reply = await call('POST', first, '/deploy', once);
    expect(reply).toMatchObject({ status: 200, body: { data: { version: 2 } } });
    expect(await call('POST', first, '/deploy', once)).toMatchObject({ status: 200, body: reply.body });
  });

  it('is deployed once by two requests, and by one of two kinds', async () => {
    const first = await saved('', body([], [answering('a')]));
    await drafted(`/${first.id}`, body([], [answering('b')]));
    const both = await Promise.all([call('POST', first, '/deploy'), call('POST', first, '/deploy')]);
    const codes = both.map(({ status, body: { code } }) => (status === 200 ? 'deployed' : code));
    expect(codes).toContain('deployed');
    expect(['no_draft', 'workflow_busy']).toContain(codes.find((code) => code !== 'deployed'));
    expect(await read(first)).toMatchObject({ version: 2, has_draft: false });

    await drafted(`/${first.id}`, body([], [answering('c')]));
    const given = { body: { ...body([], [answering('d')]), draft: true } };
    const [deployment, draft] = await Promise.all([call('POST', first, '/deploy'), call('PUT', first, '', given)]);
    const left = await read(first);
    // In one order or the other, or one of them was refused. Nothing of either is lost unsaid.
    const done = [deployment, draft].filter(({ status }) => status === 200).length;
    if (done === 1) expect([deployment.status, draft.status]).toContain(409);
    else expect(done).toBe(2);
    if (draft.status === 200 && !left.has_draft) expect(left.definition).toMatchObject({ steps: [answering('d')] });
  });

  it('is a whole definition without faults, and cancels no runs', async () => {
    const first = await saved('', body([], [answering('a')]));
    const put = (given: object) => call('PUT', first, '', { body: { ...given, draft: true } });
    expect(await put({ description: 'x' })).toMatchObject({ status: 400, body: { code: 'missing_parameter' } });
    expect(await put(body([], [{ namespace: 'a' }]))).toMatchObject({
      status: 400,
      body: { code: 'invalid_definition' },
    });
    const cancelling = { active: false, cancel_runs: true };
    expect(await put(body([], [answering('b')], cancelling))).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: { field: 'cancel_runs' } },
    });
    expect(await read(first)).toEqual(first);
  });
});

// docs/reference/workflows.md#draft-secrets
describe('the secrets of a draft', () => {
  const ACTION = (version: string) => `export default {
    type: 'action', key: 'telling', name: 'Telling', version: '${version}',
    props: { word: { type: 'string', secret: true }, other: { type: 'string', optional: true } },
    run() { return [this.word, '${version}'] },
  }`;
  const step = (props: object) => ({ namespace: 'a', uses: 'telling', props });
  const publish = (version: string) =>
    api.expect(200, 'POST', '/v1/components', { body: { component_code: ACTION(version) } });
  beforeAll(() => publish('1.0.0'));

  const result = async ({ id }: Workflow): Promise<unknown> => {
    const { data } = await api.expect<Data<{ steps: readonly { exports: { $return_value: unknown } }[] }>>(
      200,
      'POST',
      `/v1/workflows/${id}/invoke`,
      { body: { wait: true } },
    );
    return data.steps[0]?.exports.$return_value;
  };

  it('are kept by their masks from draft to draft and to the version, and those in force stay', async () => {
    const first = await saved('', body([hook(token('token-of-one'))], [step({ word: 'first-secret' })]));
    const given = body([hook(token('token-of-two'))], [step({ word: 'second-secret' })]);
    const draft = await drafted(`/${first.id}`, given);
    expect(JSON.stringify(draft)).not.toMatch(/second-secret|token-of-two/);
    expect(await result(first)).toEqual(['first-secret', '1.0.0']);
    await drafted(`/${first.id}`, { ...draft.definition, steps: [step({ word: '********', other: 'o' })] });
    await deployed(first);
    expect(await result(first)).toEqual(['second-secret', '1.0.0']);
    expect((await hit(first, 'token-of-two')).status).toBe(400);
    expect((await hit(first, 'token-of-one')).status).toBe(401);

    await drafted(`/${first.id}`, body([hook(token('token-of-six'))], [step({ word: 'third-secret' })]));
    await call('DELETE', first, '/draft');
    expect(await result(first)).toEqual(['second-secret', '1.0.0']);
    await api.expect(200, 'POST', `/v1/workflows/${first.id}/rollback`, { body: { version: 1 } });
    expect(await result(first)).toEqual(['first-secret', '1.0.0']);
  });

  it('come with the pins that were resolved when the draft was saved', async () => {
    const first = await saved('', body([], [step({ word: 'x' })]));
    await publish('1.1.0');
    const old = await drafted(`/${first.id}`, body([], [step({ word: 'y' })]));
    expect(old.steps[0]).toMatchObject({ savedComponent: { version: '1.0.0' } });
    const refreshed = await drafted(`/${first.id}`, { ...body([], [step({ word: 'y' })]), refresh: true });
    expect(refreshed.steps[0]).toMatchObject({ savedComponent: { version: '1.1.0' } });
    await publish('1.2.0');
    await drafted(`/${first.id}`, body([], [step({ word: '********', other: 'o' })]));
    await deployed(first);
    expect(await result(first)).toEqual(['y', '1.1.0']);
  });
});

// docs/reference/workflows.md#drafts
describe('a draft with a source of the workflow', () => {
  const SOURCE = `export default {
    key: 'drafted', name: 'Drafted', version: '0.0.1', type: 'source',
    props: {
      http: { type: '$.interface.http', customResponse: false },
      db: '$.service.db',
      shop: { type: 'string' },
      token: { type: 'string', secret: true },
    },
    hooks: { async activate() { if (this.shop === 'closed') throw new Error('closed'); } },
    async run({ body }) { this.$emit({ shop: this.shop, token: this.token, body }); },
  };`;
  const source = (props: object) => ({ type: 'source', name: 'orders', uses: 'drafted', props });
  const steps = [{ namespace: 'a', code: 'export default { run({ event }) { return event } }' }];
  beforeAll(() => api.expect(200, 'POST', '/v1/components', { body: { component_code: SOURCE } }));

  const order = (workflow: Workflow, n: number) =>
    send(trigger(workflow, 'orders').configured_props['http']?.endpoint_url ?? '', { body: { n } });
  const event = ({ id }: Workflow, version: number): Promise<unknown> =>
    eventually(`a run of version ${version}`, async () => {
      const { data } = await api.expect<Data<Run[]>>(200, 'GET', `/v1/workflows/${id}/runs`);
      const run = data.find((each) => each.version === version && each.state === 'succeeded');
      return run && (await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${run.id}`)).data.event;
    });
  const sources = async (): Promise<number> =>
    (await api.expect<Data<object[]>>(200, 'GET', '/v1/users/me/sources')).data.length;

  it('deploys and changes it only when it is deployed itself', async () => {
    const before = await sources();
    const first = await saved('', body([], steps));
    const draft = await drafted(`/${first.id}`, body([source({ shop: 'x', token: 'of-the-draft' })], steps));
    expect(trigger(draft, 'orders')).toMatchObject({ id: null });
    expect(draft.subscriptions).toEqual([]);
    expect(await sources()).toBe(before);
    const masked = { shop: 'y', token: '********' };
    await drafted(`/${first.id}`, body([source(masked)], steps));
    const second = await deployed(first);
    expect(await sources()).toBe(before + 1);
    await order(second, 1);
    expect(await event(second, 2)).toMatchObject({ shop: 'y', token: 'of-the-draft' });

    await drafted(`/${first.id}`, body([source({ shop: 'z', token: 'of-the-next' })], steps));
    await drafted(`/${first.id}`, body([source({ ...masked, shop: 'zz' })], steps));
    const source2 = trigger(second, 'orders').id ?? '';
    const { data } = await api.expect<Data<{ configured_props: object }>>(200, 'GET', `/v1/sources/${source2}`);
    expect(data.configured_props).toMatchObject({ shop: 'y' });
    const third = await deployed(first);
    expect(trigger(third, 'orders').id).toBe(source2);
    await order(third, 1);
    expect(await event(third, 3)).toMatchObject({ shop: 'zz', token: 'of-the-next' });
  });

  it('gives its secret to the same source in a deployment by PUT', async () => {
    const first = await saved('', body([], steps));
    await drafted(`/${first.id}`, body([source({ shop: 'x', token: 'of-the-draft' })], steps));
    const second = await saved(`/${first.id}`, body([source({ shop: 'x', token: '********' })], steps));
    expect(second).toMatchObject({ version: 2, has_draft: false });
    await order(second, 1);
    expect(await event(second, 2)).toMatchObject({ shop: 'x', token: 'of-the-draft' });
  });

  it('stays as it was when a hook fails in its deployment', async () => {
    const first = await saved('', body([], steps));
    const draft = await drafted(`/${first.id}`, body([source({ shop: 'closed', token: 't' })], steps));
    expect(await call('POST', first, '/deploy')).toMatchObject({
      status: 422,
      body: { code: 'hook_failed', details: { trigger: 'orders' } },
    });
    expect(await draftOf(first)).toEqual(draft);
    expect((await read(first)).triggers).toEqual([]);
  });
});
