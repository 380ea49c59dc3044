import { describe, expect, it } from '@jest/globals';
import { FakeCalls } from '../testing/fakes.js';
import { type DeployableComponent } from '../published.js';
import { CalledEventNames } from './event-names.js';

const component: DeployableComponent = {
  id: 'sc_1',
  key: null,
  name: 'Chat',
  kind: 'source',
  bundleHash: 'bundle-1',
  configurableProps: [{ name: 'hook', type: '$.interface.apphook' }],
  hooks: [],
  dedupe: null,
};
const request = { workspaceId: 'o_1', component, values: { a: 1 }, dynamicProps: [], secrets: ['s'] };

const answered = (value: string | undefined, more: Parameters<FakeCalls['answer']>[0] | object = {}) => {
  const calls = new FakeCalls();
  calls.answer = () => ({ ...(value === undefined ? { status: 'killed' } : { value }), ...more });
  return { calls, names: new CalledEventNames(calls).call(request, 'hook') };
};

describe('a call of eventNames', () => {
  it('names the prop, and gives each name once', async () => {
    const { calls, names } = answered('{"eventNames":["a","b","a"]}');
    expect(await names).toEqual(['a', 'b']);
    expect(calls.asked).toMatchObject([
      { bundleHash: 'bundle-1', values: { a: 1 }, secrets: ['s'], call: { kind: 'event_names', prop: 'hook' } },
    ]);
  });

  it.each(['{"eventNames":null}', '{}'])('stands for every event without a list: %s', async (value) => {
    expect(await answered(value).names).toBeNull();
  });

  it('makes a name well-formed', async () => {
    expect(await answered('{"eventNames":["\\ud800"]}').names).toEqual(['\ufffd']);
  });

  it.each<[string | undefined, RegExp]>([
    ['{"eventNames":7}', /prop hook must return a list of texts, not a number/],
    ['{"eventNames":{"length":1}}', /not an object/],
    ['{"eventNames":"a"}', /not a string/],
    ['{"eventNames":["a",["b"]]}', /entry 1 is a list/],
    ['{"eventNames":["a",null]}', /entry 1 is null/],
    ['{"eventNames":[""]}', /entry 0 has 0 characters/],
    [JSON.stringify({ eventNames: ['x'.repeat(201)] }), /entry 0 has 201 characters, allowed are 1 to 200/],
    [JSON.stringify({ eventNames: Array(1_001).fill('a') }), /1001 names, at most 1000/],
    [undefined, /prop hook failed: ProcessExited/],
  ])('is refused for anything else: %.60s', async (value, text) => {
    await expect(answered(value).names).rejects.toMatchObject({
      code: 'component.event_names_failed',
      message: expect.stringMatching(text),
    });
  });

  it('tells what the method threw', async () => {
    const error = { name: 'ConfigurationError', message: 'choose one', stack: '', code: '' };
    await expect(answered(undefined, { status: 'threw', error }).names).rejects.toThrow(
      'eventNames of prop hook failed: ConfigurationError: choose one',
    );
  });
});
