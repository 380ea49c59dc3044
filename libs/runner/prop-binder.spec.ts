import { describe, expect, it } from '@jest/globals';
import { propBinder } from './prop-binder.js';
import { definition } from './source/testing/source-world.js';

const vault = {
  put: () => Promise.resolve(),
  get: (ref: string) => Promise.resolve(`secret ${ref}`),
  delete: () => Promise.resolve(),
  // The binder does not read it.
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
    const props = names.map((prop) => ({ kind: 'value', prop, value: `of ${prop}` }) as const);
    const bound = await binder.bind('o_1', definition({ props }));
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
    const props = [
      { kind: 'request', prop: 'call', value, secretRef: 'sec_1' },
      { kind: 'request', prop: 'open', value: { url: 'https://b.example' } },
      { kind: 'dir', prop: 'dir' },
    ] as const;
    const bound = await withSecrets.bind('o_1', definition({ props }));
    expect(bound).toEqual({
      call: { kind: 'request', value: { ...value, auth: { type: 'bearer', token: 'tok' } } },
      open: { kind: 'request', value: { url: 'https://b.example' } },
      dir: { kind: 'dir' },
    });
  });

  it('do not change the prototype', async () => {
    const props = [{ kind: 'value', prop: '__proto__', value: { polluted: true } }] as const;
    const bound = await binder.bind('o_1', definition({ props }));
    expect(Object.getPrototypeOf(bound)).toBe(Object.prototype);
    expect(Object.keys(bound)).toEqual(['__proto__']);
  });
});

describe('an app prop', () => {
  const slack = { kind: 'app', prop: 'slack', value: { authProvisionId: 'apn_1' } } as const;

  it('has the credentials of its account, and none without one', async () => {
    const bound = await binder.bind('o_1', definition({ props: [slack, { kind: 'app', prop: 'http' }] }));
    expect(bound).toEqual({
      slack: { kind: 'app', auth: { api_key: 'key of apn_1' } },
      http: { kind: 'app', auth: {} },
    });
  });

  it('has a version that changes with the credentials', () => {
    expect(binder.versionOf('o_1', definition({ props: [slack] }))).toBe('version of apn_1');
    expect(binder.versionOf('o_1', definition())).toBe('');
  });
});
