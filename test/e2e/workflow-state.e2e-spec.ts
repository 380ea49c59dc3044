import { describe, expect, it } from '@jest/globals';
import { componentCode } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

interface Data<T> {
  readonly data: T;
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

const { api } = useInstance();

const COUNT = `const n = (this.db.get('n') ?? 0) + 1; this.db.set('n', n);`;
const DB = `db: '$.service.db'`;
const counting = (more = ''): string =>
  `export default { props: { ${DB} }, async run({ $, event }) { ${COUNT} ${more} return n } }`;
const REPLY = 'export default { run({ $, steps }) { $.respond({ status: 200, body: [steps.a, steps.b] }) } }';

const deployed = async (steps: readonly object[]): Promise<Workflow> => {
  const triggers = [{ type: 'http', response: 'custom' }];
  const body = { name: 'w', triggers, steps: [...steps, { namespace: 'reply', code: REPLY }] };
  return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
};
const valuesOf = async ({ triggers: [trigger] }: Workflow, body: object = {}): Promise<readonly unknown[]> => {
  const reply = await send(trigger?.endpoint_url ?? '', { body });
  const steps = jsonOf(reply) as readonly ({ readonly $return_value?: unknown } | null)[];
  return steps.map((step) => step?.$return_value);
};
const saved = async (members: string): Promise<string> => {
  const code = componentCode({ props: DB, members: `type: 'action', ${members}` });
  const { data } = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/components', {
    body: { component_code: code },
  });
  return data.id;
};

// docs/reference/workflows.md#step-db
describe('$.service.db in a workflow', () => {
  it('keeps what each step sets, apart from the others and over versions, and nothing of a step that failed', async () => {
    const uses = await saved(`run({ event }) { ${COUNT} return n }`);
    const failing = counting(`if (event.body.fail) throw new Error('no');`);
    const steps = [
      { namespace: 'a', code: failing, on_error: 'continue' },
      { namespace: 'b', uses },
    ];
    const workflow = await deployed(steps);
    expect(await valuesOf(workflow)).toEqual([1, 1]);
    expect(await valuesOf(workflow, { fail: true })).toEqual([undefined, 2]);
    expect(await valuesOf(workflow)).toEqual([2, 3]);
    const body = {
      steps: [...steps.map((step) => ({ ...step, name: 'changed' })), { namespace: 'reply', code: REPLY }],
    };
    const triggers = [{ type: 'http', response: 'custom' }];
    await api.expect(200, 'PUT', `/v1/workflows/${workflow.id}`, { body: { ...body, name: 'w', triggers } });
    expect(await valuesOf(workflow)).toEqual([3, 4]);
    expect(await valuesOf(await deployed(steps))).toEqual([1, 1]);
  });

  it('fails a step that sets more than it may', async () => {
    const fill = `for (let i = 0; i < 30; i++) this.db.set('k' + i, 'x'.repeat(50_000));`;
    const workflow = await deployed([{ namespace: 'a', code: counting(fill), on_error: 'continue' }]);
    const [value] = await valuesOf(workflow);
    expect(value).toBeUndefined();
  });

  it('is empty and dropped when an action runs singly, which a warning says', async () => {
    const id = await saved(`run() { ${COUNT} return n }`);
    for (let runs = 0; runs < 2; runs++)
      expect(await api.expect(200, 'POST', '/v1/actions/run', { body: { id } })).toMatchObject({
        ret: 1,
        warnings: [{ code: 'db_dropped', path: 'configured_props.db' }],
      });
  });
});
