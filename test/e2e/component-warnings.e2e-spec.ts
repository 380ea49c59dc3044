import { describe, expect, it } from '@jest/globals';
import { type Component, type Data, type ErrorBody, type Source } from '#test/harness/api-client.js';
import { readFileSync } from 'node:fs';
import { HTTP, KEYS, REFUSED, WARNED } from '#test/harness/slips.js';
import { echoCode, emitterCode, relayCode } from '#test/harness/component-code.js';
import { example } from '#test/harness/paths.js';
import { useInstance } from '#test/harness/instance.js';

interface Warned {
  readonly warnings?: readonly { readonly code: string; readonly message: string; readonly path: string }[];
}

const instance = useInstance();
const { api } = instance;
const post = (body: Record<string, unknown>) =>
  api.call<Data<Component> & ErrorBody & Warned>('POST', '/v1/components', { body });

let counter = 0;
/** Code of a component with these members, after a good name. */
const code = (members: string): string => `// ${++counter}\nexport default { name: 'Misspelt', ${members} };`;
describe('a component with a slip is saved, and the reply says what is probably meant', () => {
  it.each(WARNED)('%s', async (members, warningCode, path, message) => {
    const reply = await post({ component_code: code(members) });
    expect(reply.body.warnings).toEqual([{ code: warningCode, message, path }]);
    expect(reply.status).toBe(200);
  });
});

describe('a component that could not work is refused, and the reply says what to write', () => {
  // docs/reference/rest-api.md#component-evaluation
  it.each(REFUSED)('%s', async (members, propName, message) => {
    const reply = await post({ component_code: code(members) });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      error: message,
      code: 'invalid_component',
      details: { name: 'UserError', message, ...(propName === undefined ? {} : { prop: propName }) },
    });
  });

  it('with name and message of what its module threw', async () => {
    const reply = await post({ component_code: `throw new TypeError('no luck')` });
    expect(reply.body).toMatchObject({
      error: 'the component cannot be loaded: TypeError: no luck (component.js:1:7)',
      details: { name: 'TypeError', message: 'no luck' },
    });
    const unread = await post({ component_code: 'export default {' });
    expect(unread.body.details).toMatchObject({ name: 'SyntaxError', message: unread.body.error });
  });
});

describe('warnings about a component', () => {
  const slip = (): string => code(`${HTTP} dedup: 'unique', run() {}`);
  const expected = [expect.objectContaining({ code: 'misspelt_key', path: 'dedup' })];

  // docs/reference/rest-api.md#reply-warnings
  it('are shown again when the same code is saved, and when the component is read', async () => {
    const body = { component_code: slip() };
    const { data, warnings } = (await post(body)).body;
    expect(warnings).toEqual(expected);
    expect((await post(body)).body.warnings).toEqual(expected);
    const read = await api.expect<Data<Component> & Warned>(200, 'GET', `/v1/components/${data.id}`);
    expect(read.warnings).toEqual(expected);
  });

  // docs/reference/component-model.md#assigned-constants
  it('tell where a constant is assigned', async () => {
    const { body } = await post({ component_code: code(`${HTTP} run() { const once = 1; once = 2; }`) });
    expect(body.warnings).toEqual([
      {
        code: 'assigned_constant',
        message: expect.stringMatching(/"once".*: the line throws a TypeError when it runs$/),
        path: expect.stringMatching(/^component\.js:2:\d+$/),
      },
    ]);
  });

  // docs/reference/rest-api.md#reply-warnings
  it('are shown when a source is deployed from stored or given code, and when it is updated', async () => {
    const { data } = (await post({ component_code: slip() })).body;
    const deploy = (body: Record<string, unknown>) =>
      api.expect<Data<Source> & Warned>(200, 'POST', '/v1/sources', { body });
    const stored = await deploy({ component_id: data.id });
    expect(stored.warnings).toEqual(expected);
    expect((await deploy({ component_code: slip() })).warnings).toEqual(expected);
    const put = { body: { component_id: data.id, configured_props: {} } };
    const updated = await api.expect<Warned>(200, 'PUT', `/v1/sources/${stored.data.id}`, put);
    expect(updated.warnings).toEqual(expected);
  });

  it('are left out when there are none, and for keys that are near no other', async () => {
    const reply = await post({ component_code: code(`${HTTP} sharedBase: 1, run() {}`) });
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.body)).toEqual(['data']);
  });

  it('are bounded, whatever a component declares', async () => {
    const props = `Object.fromEntries(Array.from({ length: 900 }, (_, n) => ['p' + n + 'x'.repeat(200), 'odd' + n]))`;
    const { body } = await post({ component_code: code(`props: ${props}, run() {}`) });
    expect(body.warnings).toHaveLength(100);
    expect(body.warnings?.at(-1)).toEqual({
      code: 'more_warnings',
      message: '802 more warnings are not shown: correct those above and save the component again',
      path: '',
    });
  });

  it('are none for the examples', async () => {
    for (const name of ['hello', 'feed', 'github-webhook']) {
      const reply = await post({ component_code: readFileSync(example(name, 'component.mjs'), 'utf8') });
      expect([name, reply.status, reply.body.warnings]).toEqual([name, 200, undefined]);
    }
  });

  it('are none for the code that other suites deploy', async () => {
    for (const good of [relayCode(), emitterCode(), echoCode()])
      expect((await post({ component_code: good })).body).toEqual({ data: expect.anything() });
  });
});

describe('a component without a name', () => {
  const unnamed = (members: string): string => `// ${++counter}\nexport default { ${HTTP} ${members} run() {} };`;

  it('is named by its key, else by its file', async () => {
    const keyed = await post({ component_code: unnamed(`key: 'ship-log',`) });
    expect(keyed.body.data.name).toBe('ship-log');
    const url = 'https://example.com/sources/tide-table.mjs';
    const filed = await post({ component_code: unnamed(''), component_url: url });
    expect(filed.body.data.name).toBe('tide-table');
  });

  it('is refused without either', async () => {
    const reply = await post({ component_code: unnamed('') });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toBe('name is missing: a source needs a name, a text that is not empty, or a key');
    const misspelt = await post({ component_code: unnamed(`nmae: 'x',`) });
    expect(misspelt.body.error).toBe(
      `name is missing: "nmae" is not a key of a component: "name" is probably meant; ${KEYS}`,
    );
  });
});
