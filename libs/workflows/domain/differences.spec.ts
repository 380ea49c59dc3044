import { describe, expect, it } from '@jest/globals';
import { differencesOf } from './differences.js';

const json = (text: string): unknown => JSON.parse(text);

describe('the differences of two definitions', () => {
  it('name each changed value, and neither equal ones nor the order of keys', () => {
    const before = { name: 'Orders', steps: [{ code: '1', props: { a: 1 } }] };
    const after = { steps: [{ props: { a: 1 }, code: '2' }], name: 'Orders' };
    expect(differencesOf(before, after)).toEqual([{ path: '/steps/0/code', before: '1', after: '2' }]);
    expect(differencesOf(before, before)).toEqual([]);
  });

  it('tell what is added and removed from what is null', () => {
    const added = differencesOf({ list: [1], kept: null }, { list: [1, null], kept: 0 });
    expect(added).toStrictEqual([
      { path: '/list/1', after: null },
      { path: '/kept', before: null, after: 0 },
    ]);
    expect(differencesOf({ list: [1, null] }, { list: [1] })).toStrictEqual([{ path: '/list/1', before: null }]);
  });

  it('replace a value by one of another kind', () => {
    expect(differencesOf({ a: [] }, { a: {} })).toEqual([{ path: '/a', before: [], after: {} }]);
    expect(differencesOf({ a: { 0: 'x' } }, { a: ['x'] })).toEqual([{ path: '/a', before: { 0: 'x' }, after: ['x'] }]);
    expect(differencesOf({ a: null }, { a: {} })).toEqual([{ path: '/a', before: null, after: {} }]);
  });

  it('escape the keys of their paths', () => {
    expect(differencesOf({}, { files: 1, 'a/~1': 2, '': 3 }).map(({ path }) => path)).toEqual([
      '/files',
      '/a~1~01',
      '/',
    ]);
  });

  it('take keys that every object inherits as any others', () => {
    const keys = '{"constructor": 1, "__proto__": {"a": 1}}';
    expect(differencesOf({}, json(keys))).toStrictEqual([
      { path: '/constructor', after: 1 },
      { path: '/__proto__', after: { a: 1 } },
    ]);
    expect(differencesOf(json(keys), {}).map(({ path, ...values }) => [path, Object.keys(values)])).toEqual([
      ['/constructor', ['before']],
      ['/__proto__', ['before']],
    ]);
  });
});
