import { describe, expect, it } from '@jest/globals';
import { type SourceDefinition } from '../sources/published.js';
import { propBinder } from './prop-binder.js';
import { definition } from './testing/source-world.js';

const vault = {
  put: () => Promise.resolve(),
  get: (ref: string) => Promise.resolve(`secret ${ref}`),
  delete: () => Promise.resolve(),
  // Not read by the binder.
  entries: async function* () {},
};
const binder = propBinder(
  vault,
  (key) => `http://host/h/${key}`,
  ({ value }) => value,
  {
    versionOf: (id) => `version of ${id}`,
    freshen: () => undefined,
    authOf: (id) => Promise.resolve({ api_key: `key of ${id}` }),
  },
);

describe('the props of a run', () => {
  it('are complete, even one with the name of an inherited property', async () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'url'];
    const values = Object.fromEntries(names.map((name) => [name, { value: `of ${name}` }]));
    const bound = await binder.bind('o_1', definition({ values }));
    expect(Object.entries(bound)).toEqual(names.map((name) => [name, { kind: 'value', value: `of ${name}` }]));
  });

  it('have the secrets of a request in the place of their masks, and the folder of the process', async () => {
    const withSecrets = propBinder(
      { ...vault, get: () => Promise.resolve('{"token":"tok"}') },
      (key) => key,
      ({ value }) => value,
      { versionOf: () => undefined, freshen: () => undefined, authOf: () => Promise.resolve({}) },
    );
    const value = { url: 'https://a.example', auth: { type: 'bearer', token: '********' } };
    const values = { call: { value, authRef: 'sec_1' }, open: { value: { url: 'https://b.example' } } };
    const bound = await withSecrets.bind(
      'o_1',
      definition({ values, requestProps: ['call', 'open'], dirProps: ['dir'] }),
    );
    expect(bound).toEqual({
      call: { kind: 'request', value: { ...value, auth: { type: 'bearer', token: 'tok' } } },
      open: { kind: 'request', value: { url: 'https://b.example' } },
      dir: { kind: 'dir' },
    });
  });

  it('do not change the prototype', async () => {
    const values = JSON.parse('{"__proto__":{"value":{"polluted":true}}}') as SourceDefinition['values'];
    const bound = await binder.bind('o_1', definition({ values, dbProps: ['__proto__'] }));
    expect(Object.getPrototypeOf(bound)).toBe(Object.prototype);
    expect(Object.keys(bound)).toEqual(['__proto__']);
  });
});

describe('an app prop', () => {
  const values = { slack: { value: { authProvisionId: 'apn_1' } } };

  it('has the credentials of its account, and none without one', async () => {
    const bound = await binder.bind('o_1', definition({ values, appProps: ['slack', 'http'] }));
    expect(bound).toEqual({
      slack: { kind: 'app', auth: { api_key: 'key of apn_1' } },
      http: { kind: 'app', auth: {} },
    });
  });

  it('has a version that changes with the credentials', () => {
    expect(binder.versionOf('o_1', definition({ values, appProps: ['slack'] }))).toBe('version of apn_1');
    expect(binder.versionOf('o_1', definition({ values }))).toBe('');
  });
});
