import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ErrorBody, type Reply } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';

interface Fault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}
interface Body {
  readonly code?: string;
  readonly data?: { readonly valid: boolean };
  readonly warnings?: readonly { readonly code: string; readonly path: string }[];
  readonly details?: { readonly errors: readonly Fault[] };
}

const { api } = useInstance();

const asYaml = (text: string, type = 'application/yaml', query: Record<string, string> = {}): Promise<Reply<Body>> =>
  api.call('POST', '/v1/workflows/validate', { body: text, query, headers: { 'content-type': type } });
const asJson = (body: object, query: Record<string, string> = {}): Promise<Reply<Body>> =>
  api.call('POST', '/v1/workflows/validate', { body, query });
const A = { namespace: 'a', code: 'export default {}' };
const step = (more: object): object => ({ name: 'w', steps: [{ ...A, ...more }] });
const timer = (more: object): object => ({ name: 'w', triggers: [{ type: 'timer', ...more }] });
const faultsIn = ({ body }: Reply<Body>): readonly string[] =>
  (body.details?.errors ?? []).map(({ path, code }) => `${path} ${code}`);
const warningsIn = ({ body }: Reply<Body>): readonly string[] => (body.warnings ?? []).map(({ code }) => code);

const FILES = ['shape_order', 'collect', 'keep']
  .map((name) => `  ${name}/entry.js: |\n    export default defineComponent({ async run() {} })\n`)
  .join('');

beforeAll(async () => {
  const code = componentCode({
    key: 'wf-send-message',
    version: '0.1.2',
    props: `chat: { type: 'app', app: 'chat' }, channel: 'string', text: 'string', count: { type: 'integer', optional: true }`,
    members: `type: 'action', async run() {},`,
  });
  const props = `text: { type: 'string', optional: true }`;
  const plain = componentCode({
    key: 'wf-no-props',
    version: '0.1.0',
    props,
    members: `type: 'action', async run() {},`,
  });
  for (const each of [code, plain]) await api.expect(200, 'POST', '/v1/components', { body: { component_code: each } });
}, 60_000);

describe('POST /v1/workflows/validate', () => {
  it('accepts a definition, in JSON and in each YAML type', async () => {
    expect(await asJson(step({}))).toMatchObject({ status: 200, body: { data: { valid: true } } });
    const text = 'name: w\nsteps:\n  - namespace: a\n    code: export default {}\n';
    for (const type of ['application/yaml', 'text/yaml; charset=utf-8', 'application/x-yaml'])
      expect(await asYaml(text, type)).toMatchObject({ status: 200, body: { data: { valid: true } } });
    expect((await asJson({ ...step({}), managed_by: 'git', active: false, refresh: true })).body).not.toHaveProperty(
      'warnings',
    );
  });

  it.each([
    ['http-and-code', ['imported_trigger']],
    ['components', ['imported_trigger', 'account_not_found']],
    ['private-component', ['imported_trigger', 'no_account']],
    ['code-and-components', ['trigger_ignored', 'account_not_found']],
  ])(
    'loads a public file unchanged, with warnings, and refuses it under the own schema: %s',
    async (name, warnings) => {
      const text = readFileSync(join(ROOT, `test/fixtures/workflows/${name}.yaml`), 'utf8');
      const reply = await asYaml(`${text}files:\n${FILES}`);
      expect([reply.status, warningsIn(reply)]).toEqual([200, warnings]);
      const own = await asYaml(`${text}files:\n${FILES}`.replace('workflow/2022.04', 'sluice.workflow/1'));
      expect(own).toMatchObject({ status: 400, body: { code: 'invalid_definition' } });
      expect(faultsIn(own)[0]).toBe('triggers[0].id unresolved');
    },
  );

  it('4: tells the line and column of each error of YAML', async () => {
    const lines = [
      'name: w',
      'settings:',
      '  queue_size: 0',
      'steps:',
      '  - namespace: a',
      '    code: x',
      '    retry:',
    ];
    const reply = await asYaml([...lines, '      backoff: fixed', '      max_retries: 50'].join('\n'));
    expect(reply.status).toBe(400);
    expect(reply.body.details?.errors).toMatchObject([
      { path: 'settings.queue_size', code: 'range', line: 3, column: 3 },
      { path: 'steps[0].retry.max_retries', code: 'range', line: 9, column: 7 },
    ]);
    expect((await asYaml('name: w\nname: v')).body.details?.errors).toMatchObject([
      { code: 'duplicate', line: 2, column: 1 },
    ]);
  });

  it.each<[what: string, body: object, fault: string]>([
    [
      '6: an unknown component',
      { name: 'w', steps: [{ namespace: 'a', uses: 'no-such@1.0.0' }] },
      'steps[0].uses unresolved',
    ],
    [
      'another version',
      { name: 'w', steps: [{ namespace: 'a', uses: 'wf-send-message@0.1.3' }] },
      'steps[0].uses unresolved',
    ],
    ['10: an expression', step({ props: { p: '{{ steps. }}' } }), 'steps[0].props.p expression'],
    ['a condition', step({ if: '1 +' }), 'steps[0].if expression'],
    [
      'a time zone',
      { name: 'w', triggers: [{ type: 'timer', cron: '0 9 * * *', timezone: 'No/Where' }] },
      'triggers[0].timezone format',
    ],
    ['cron', { name: 'w', triggers: [{ type: 'timer', cron: '* * * * * *' }] }, 'triggers[0].cron format'],
    [
      'an emitter',
      { name: 'w', triggers: [{ type: 'event', emitter: 'dc_0k2f9x8a1b3c5d7e9f' }] },
      'triggers[0].emitter unresolved',
    ],
    [
      'a filter',
      { name: 'w', triggers: [{ type: 'event', emitter: 'dc_*', filter: { a: { nope: 1 } } }] },
      'triggers[0].filter format',
    ],
    ['5: two steps of one name', { name: 'w', steps: [A, A] }, 'steps[1].namespace duplicate'],
    ['5: a step with the name of the trigger', step({ namespace: 'trigger' }), 'steps[0].namespace format'],
    ['7: a component with code', step({ uses: 'wf-no-props@0.1.0' }), 'steps[0].code conflict'],
    ['7: a step without either', { name: 'w', steps: [{ namespace: 'a' }] }, 'steps[0].uses required'],
    [
      '7: an earlier step as the handler',
      { name: 'w', steps: [A, { ...A, namespace: 'b', on_error: 'a' }] },
      'steps[1].on_error conflict',
    ],
    ['9: a short interval', timer({ interval_seconds: 14 }), 'triggers[0].interval_seconds range'],
    ['9: two schedules', timer({ interval_seconds: 15, cron: '0 9 * * *' }), 'triggers[0].interval_seconds conflict'],
    ['9: an email trigger', { name: 'w', triggers: [{ type: 'email' }] }, 'triggers[0].type unsupported'],
    ['9: another language', step({ runtime: 'python3.12' }), 'steps[0].runtime unsupported'],
  ])('refuses %s', async (_what, body, fault) => expect(faultsIn(await asJson(body))).toEqual([fault]));

  it('finds a component by a caret range, and checks its props', async () => {
    const uses = 'wf-send-message@^0.1.0';
    const valid = { channel: 'a', text: '{{ event.text }}', count: 3 };
    const check = (props: object) => asJson({ name: 'w', steps: [{ namespace: 'a', uses, props }] });
    expect([(await check(valid)).status, warningsIn(await check(valid))]).toEqual([200, ['no_account']]);
    expect(faultsIn(await check({ text: 'x', count: 'many' }))).toEqual([
      ...['steps[0].props.channel required', 'steps[0].props.count type'],
    ]);
  });

  it('8: makes warnings errors with strict, in query and body', async () => {
    expect(warningsIn(await asJson(step({ nmae: 'x' })))).toEqual(['unknown_key']);
    expect(faultsIn(await asJson(step({ nmae: 'x' }), { strict: 'true' }))).toEqual(['steps[0].nmae unknown_key']);
    expect(faultsIn(await asJson({ ...step({ nmae: 'x' }), strict: true }))).toEqual(['steps[0].nmae unknown_key']);
    expect(faultsIn(await asYaml('name: w\nstep: []', 'text/yaml', { strict: 'true' }))).toEqual(['step unknown_key']);
  });

  it('10: refuses what is too large, with each alias as often as it is used', async () => {
    expect(await asJson(step({ code: 'x'.repeat(513 * 1024) }))).toMatchObject({
      status: 413,
      body: { code: 'workflow_too_large' },
    });
    const code = `name: w\nx: &c ${'x'.repeat(200_000)}\ny: [*c, *c]`;
    expect(await asYaml(code)).toMatchObject({ status: 413, body: { code: 'workflow_too_large' } });
  });

  it('answers hostile YAML, and other requests meanwhile', async () => {
    const bomb = [
      'a: &a0 lol',
      ...Array.from({ length: 9 }, (_, i) => `b${i}: &a${i + 1} [${Array(9).fill(`*a${i}`).join()}]`),
    ];
    const hostile = [bomb.join('\n'), '['.repeat(512 * 1024), '{a: '.repeat(130_000), `${'k'.repeat(512 * 1024)}: 1`];
    const asked = hostile.map((text) => asYaml(text));
    expect((await api.call('GET', '/v1/users/me')).status).toBe(200);
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses).toEqual([413, 400, 400, 400]);
    expect((await asYaml('name: w')).status).toBe(200);
  }, 60_000);

  it('takes YAML at no other route', async () => {
    const options = { body: 'name: w', headers: { 'content-type': 'application/yaml' } };
    const reply = await api.call<ErrorBody>('POST', '/v1/sources', options);
    expect([reply.status, reply.body.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('repeats the answer to the same YAML with an Idempotency-Key, and refuses it for another', async () => {
    const ask = (body: string) =>
      api.call<ErrorBody>('POST', '/v1/workflows/validate', {
        body,
        headers: { 'content-type': 'application/yaml', 'idempotency-key': 'validate-once' },
      });
    expect((await ask('name: w')).status).toBe(200);
    expect((await ask('name: w')).headers).toMatchObject({ 'idempotency-replayed': 'true' });
    expect((await ask('name: v')).status).toBe(422);
  });
});

describe('GET /v1/workflows/schema.json', () => {
  it('answers without a key', async () => {
    const reply = await api.call<object>('GET', '/v1/workflows/schema.json', { key: null });
    expect(reply).toMatchObject({ status: 200, body: { $schema: 'https://json-schema.org/draft/2020-12/schema' } });
  });
});
