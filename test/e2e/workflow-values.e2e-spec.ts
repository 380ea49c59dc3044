import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

interface Run {
  readonly id: string;
  readonly state: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly steps: readonly {
    readonly props: unknown;
    readonly exports: { readonly $return_value?: unknown } | null;
    readonly logs: readonly { readonly k: string; readonly msg: string }[];
  }[];
}

const { api } = useInstance();

const invoked = async (steps: readonly object[], given: object = {}): Promise<Run> => {
  const body = { name: 'Values', triggers: [{ type: 'manual' }], steps };
  const { data } = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/workflows', { body });
  const path = `/v1/workflows/${data.id}/invoke`;
  return (await api.expect<Data<Run>>(200, 'POST', path, { body: { wait: true, ...given } })).data;
};
const step = (namespace: string, body: string, more: object = {}): object => ({
  namespace,
  code: `export default { async run({ steps, event, $ }) { ${body} } }`,
  ...more,
});
const valueOf = ({ steps }: Run, index = 0): unknown => steps[index]?.exports?.$return_value;

// docs/reference/workflows.md#expressions
describe('the props of a step', () => {
  const PROPS = `{ n: { type: 'integer', optional: true }, text: { type: 'string', optional: true },
    list: { type: 'string[]', optional: true }, yes: { type: 'boolean', optional: true },
    any: { type: 'any', optional: true } }`;
  const code = `export default { props: ${PROPS}, run() {
    return JSON.parse(JSON.stringify({ n: this.n, text: this.text, list: this.list, yes: this.yes, any: this.any })) } }`;
  const given = (props: object): Promise<Run> => invoked([{ namespace: 'a', code, props }], { event: { who: 'Ada' } });

  it('55: have the values of their expressions, of the type of the prop', async () => {
    const props = {
      n: '{{ 1+1 }}',
      text: 'a{{1}}b{{ null }}{{ undefined }}{{ {c: event.who} }}',
      list: ['{{ event.who }}', '\\{{x}}'],
      yes: '{{ "true" }}',
      any: '{{ {a:{b:1}} }}',
    };
    const run = await given(props);
    const values = { n: 2, text: 'a1b{"c":"Ada"}', list: ['Ada', '{{x}}'], yes: true, any: { a: { b: 1 } } };
    expect([run.state, valueOf(run)]).toEqual(['succeeded', values]);
    expect(run.steps[0]?.props).toEqual(values);
    expect(
      valueOf(await given({ n: '{{ "12" }}', text: '{{ 5 }}', list: '{{ "[\\"a\\"]" }}', any: '{{ undefined }}' })),
    ).toEqual({ n: 12, text: '5', list: ['a'] });
  });

  it.each([
    [{ n: '{{ "x" }}' }, 'ConfigurationError', /^props\.n: /],
    [{ yes: '{{ 1 }}' }, 'ConfigurationError', /^props\.yes: /],
    [{ any: ['{{ event.none.such }}'] }, 'ExpressionError', /^props\.any\[0\]: /],
    [{ any: '{{ Symbol() }}' }, 'ExpressionError', /^props\.any: /],
  ])('55: fail their step with what does not fit: %j', async (props, code, message) => {
    const { state, error } = await given(props);
    expect([state, error?.code, error?.message]).toEqual(['failed', code, expect.stringMatching(message)]);
  });
});

// docs/reference/workflows.md#props
describe('the props that additionalProps adds', () => {
  it('are found by the values without expressions, and take expressions by their type', async () => {
    const component_code = componentCode({
      props: `kind: { type: 'string', reloadProps: true }`,
      members: `type: 'action',
        async additionalProps() {
          return this.kind === 'number' ? { n: { type: 'integer' } } : { text: { type: 'string' } };
        },
        run() { return { kind: this.kind, n: this.n ?? null, text: this.text ?? null } },`,
    });
    const { data } = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/components', {
      body: { component_code },
    });
    const given = (props: object): Promise<Run> => invoked([{ namespace: 'a', uses: data.id, props }]);
    expect(valueOf(await given({ kind: 'number', n: '{{ "5" }}' }))).toEqual({ kind: 'number', n: 5, text: null });
    expect(valueOf(await given({ kind: 'other', text: '{{ 5 }}' }))).toEqual({ kind: 'other', n: null, text: '5' });
    const wrong = await given({ kind: 'number', n: '{{ "x" }}' });
    expect([wrong.state, wrong.error?.code]).toEqual(['failed', 'ConfigurationError']);
    const body = { name: 'w', steps: [{ namespace: 'a', uses: data.id, props: { kind: 'number', n: 'x' } }] };
    const refused = await api.call<ErrorBody>('POST', '/v1/workflows', { body });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_definition']);
  });
});

// docs/reference/workflows.md#context
describe('$.context', () => {
  const SHARED = [
    ...['id', 'ts', 'trace_id', 'workflow_id', 'workflow_name', 'deployment_id', 'emitter_id', 'owner_id'],
    ...['platform_version', 'replay', 'test', 'verified', 'hops', 'source_type', 'resume'],
    ...['project_id', 'pipeline_id', 'external_user_id', 'external_user_environment'],
  ];
  const contextsOf = async (given: object): Promise<readonly [Run, ...Readonly<Record<string, unknown>>[]]> => {
    const run = await invoked([step('a', 'return [$.context, steps.trigger.context]')], given);
    return [run, ...(valueOf(run) as Readonly<Record<string, unknown>>[])];
  };

  it('63: has each key, and that of the trigger those of the run', async () => {
    const [run, own, ofTrigger] = await contextsOf({});
    expect(Object.keys(own ?? {}).sort()).toEqual([...SHARED, 'deadline', 'JIT', 'idempotency_key', 'run'].sort());
    expect(own).toMatchObject({
      id: run.id,
      trace_id: run.id,
      workflow_name: 'Values',
      emitter_id: null,
      source_type: 'MANUAL',
      replay: false,
      test: false,
      verified: false,
      hops: 0,
      resume: null,
      JIT: false,
      pipeline_id: null,
      external_user_id: null,
      external_user_environment: null,
      idempotency_key: `${run.id}/a`,
      run: { runs: 1, attempt: 1, context: null, callback_request: null },
    });
    expect(own?.['ts']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const [name, prefix] of Object.entries({ workflow_id: 'p_', deployment_id: 'd_', owner_id: 'o_' }))
      expect(String(own?.[name])).toMatch(new RegExp(`^${prefix}[0-9a-z]{18}$`));
    expect(Object.keys(own?.['run'] as object).sort()).toEqual(['attempt', 'callback_request', 'context', 'runs']);
    expect(ofTrigger).toEqual(Object.fromEntries(SHARED.map((name) => [name, own?.[name]])));
  });

  it('63: tells of a test', async () => {
    const [run, own] = await contextsOf({ test: true });
    expect(own).toMatchObject({ id: run.id, JIT: true, test: true });
  });
});

// docs/reference/rest-api.md#variables
describe('a variable of the workspace', () => {
  let path: string;
  let action: string;
  beforeAll(async () => {
    const { data: me } = await api.expect<Data<{ orgs: readonly { id: string }[] }>>(200, 'GET', '/v1/users/me');
    path = `/v1/workspaces/${me.orgs[0]?.id ?? ''}/variables`;
    const component_code = componentCode({
      key: 'sees-variables',
      version: '0.0.1',
      props: '',
      members: `type: 'action', run() { return [process.env.A ?? null, Object.keys(process.env)] },`,
    });
    const { data } = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/components', {
      body: { component_code },
    });
    action = data.id;
  }, 60_000);

  it('64: is in a code step alone, masked in its log, and never shown', async () => {
    await api.expect(200, 'PUT', `${path}/A`, { body: { value: 'the-secret-value' } });
    const run = await invoked([
      step('a', 'console.log("A is " + process.env.A); return [process.env.A.length, Object.keys(process.env)]'),
      { namespace: 'b', uses: action },
    ]);
    expect(run.steps[0]?.logs).toMatchObject([{ msg: 'A is ********' }]);
    // Neither has anything else of the server's environment.
    expect(valueOf(run)).toEqual([16, ['A']]);
    expect(valueOf(run, 1)).toEqual([null, ['PD_COMPONENT']]);
    const listed = await api.expect<Data<readonly object[]>>(200, 'GET', path);
    expect(listed.data).toEqual([{ name: 'A', updated_at: expect.any(Number) }]);
  });
});
