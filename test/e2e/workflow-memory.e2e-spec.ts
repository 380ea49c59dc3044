import { describe, expect, it } from '@jest/globals';
import { componentCode } from '#test/harness/component-code.js';
import { type ErrorBody } from '#test/harness/api-client.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

interface Data<T> {
  readonly data: T;
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
  readonly settings: { readonly memory_mb: number };
}

const { api } = useInstance({ env: { SLUICE_MEMORY_MB: '96', SLUICE_WORKFLOW_MEMORY_MB: '320' } });

/** Holds `mb` MB of heap, and returns the limit of the heap in MB. */
const holding = (mb: number): string =>
  `const held = []; for (let n = 0; n < ${mb}; n++) held.push(new Array(131_072).fill(0.5 + n));
   return Math.round(require('node:v8').getHeapStatistics().heap_size_limit / 1024 / 1024) + 0 * held.length;`;
const code = (body: string): string => `export default { async run({ steps, $ }) { ${body} } }`;
const REPLY = code(
  `$.respond({ status: 200, body: Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, step.$return_value ?? step.$error?.code ?? null])) })`,
);

const definition = (steps: readonly object[], settings: object): object => ({
  name: 'w',
  settings,
  triggers: [{ type: 'http', response: 'custom' }],
  steps: [...steps.map((step) => ({ ...step, on_error: 'continue' })), { namespace: 'reply', code: REPLY }],
});
const deployed = async (steps: readonly object[], settings: object = {}): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body: definition(steps, settings) })).data;
const ran = async ({ triggers: [trigger] }: Workflow): Promise<Readonly<Record<string, unknown>>> =>
  jsonOf(await send(trigger?.endpoint_url ?? '', { body: {} })) as Readonly<Record<string, unknown>>;
const saved = async (body: string): Promise<string> => {
  const component_code = componentCode({ props: '', members: `type: 'action', run() { ${body} }` });
  return (await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/components', { body: { component_code } })).data.id;
};

// docs/reference/workflows.md#memory
describe('memory_mb of a workflow', () => {
  it('is the heap of its code steps and actions, whatever that of sources is, and a change takes effect', async () => {
    const steps = [
      { namespace: 'a', code: code(holding(1)) },
      { namespace: 'b', uses: await saved(holding(1)) },
    ];
    const workflow = await deployed(steps);
    const { a: usual, b } = await ran(workflow);
    expect([workflow.settings.memory_mb, b]).toEqual([256, usual]);
    const { data } = await api.expect<Data<Workflow>>(200, 'PUT', `/v1/workflows/${workflow.id}`, {
      body: { settings: { memory_mb: 64 } },
    });
    const less = Number(usual) - 192;
    expect([data.settings.memory_mb, await ran(workflow)]).toEqual([64, expect.objectContaining({ a: less, b: less })]);
  }, 60_000);

  it('ends a step that needs more, and no other', async () => {
    const steps = [{ namespace: 'a', code: code(holding(150)) }];
    const [small, large, other] = await Promise.all([
      deployed(steps, { memory_mb: 64 }),
      deployed(steps, { memory_mb: 256 }),
      deployed([{ namespace: 'a', code: code('await new Promise((end) => setTimeout(end, 2_000)); return 1') }]),
    ]);
    const [failed, fits, unharmed] = await Promise.all([small, large, other].map(ran));
    expect([failed?.['a'], fits?.['a'], unharmed?.['a']]).toEqual(['OutOfMemory', expect.any(Number), 1]);
  }, 60_000);

  it('is at most what the server allows', async () => {
    const refused = await api.expect<ErrorBody>(400, 'POST', '/v1/workflows', {
      body: definition([], { memory_mb: 321 }),
    });
    expect(refused).toMatchObject({
      code: 'invalid_definition',
      details: { errors: [{ path: 'settings.memory_mb', code: 'range' }] },
    });
    const schema = await api.expect<unknown>(200, 'GET', '/v1/workflows/schema.json');
    expect(schema).toMatchObject({
      properties: { settings: { properties: { memory_mb: { minimum: 64, maximum: 320 } } } },
    });
  });
});
