import { beforeEach, describe, expect, it } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { buildRealm } from '../../child-code.js';
import { type RealmEnd } from './main.js';

const code = await buildRealm(fileURLToPath(new URL('../..', import.meta.url)));

describe('a realm that is locked down', () => {
  let context: vm.Context;
  let realm: RealmEnd;
  const run = (script: string): unknown => vm.runInContext(`"use strict"; ${script}`, context);

  beforeEach(() => {
    context = vm.createContext();
    realm = vm.runInContext(`(() => { ${code}\nreturn realm.realm; })()`, context) as RealmEnd;
  });

  it('has names of the language and no other', () => {
    const names = run('Reflect.ownKeys(this).map(String)') as string[];
    expect(names).toEqual(expect.arrayContaining(['Object', 'JSON', 'Map', 'RangeError', '$evaluate']));
    for (const name of ['Promise', 'Proxy', 'WebAssembly', 'console', 'globalThis', 'SharedArrayBuffer', 'Atomics'])
      expect(names).not.toContain(name);
  });

  it('is frozen as far as anything leads, but for its global object', () => {
    const open = run(`(() => {
      const seen = new Set([this]), waiting = [], open = [];
      const add = (from, x) => { if (((typeof x === 'object' && x !== null) || typeof x === 'function') && !seen.has(x)) { seen.add(x); waiting.push([from, x]); } };
      for (const key of Reflect.ownKeys(this)) add(String(key), this[key]);
      for (const x of [(function* () {}).prototype, [][Symbol.iterator](), new Map().keys(), new Set().keys(), 'a'[Symbol.iterator](), 'a'.matchAll(/a/g)]) add('iterator', Object.getPrototypeOf(x));
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [from, x] = next;
        if (!Object.isFrozen(x)) open.push(from);
        add(from + '.__proto__', Object.getPrototypeOf(x));
        for (const key of Reflect.ownKeys(x)) for (const part of Object.values(Object.getOwnPropertyDescriptor(x, key))) add(from + '.' + String(key), part);
      }
      return { open, seen: seen.size };
    })()`) as { open: string[]; seen: number };
    expect(open.open).toHaveLength(0);
    expect(open.seen).toBeGreaterThan(500);
  });

  it.each([
    'Array = 1',
    'JSON.parse = 1',
    'Object.prototype.polluted = 1',
    'Object.prototype.toString = 1',
    'Error.prototype.name = 1',
    'Object.defineProperty(this, "Array", { value: 1 })',
    '$evaluate = 1',
  ])('refuses %s', (script) => {
    expect(() => run(script)).toThrow();
    expect(realm.isUnchanged()).toBe(true);
  });

  it.each([
    'this.polluted = 1',
    'Object.defineProperty(this, "polluted", { get: () => 1 })',
    'Object.setPrototypeOf(this, {})',
  ])('tells that its global object was changed: %s', (script) => {
    expect(realm.isUnchanged()).toBe(true);
    run(script);
    expect(realm.isUnchanged()).toBe(false);
  });

  it('lets objects have what their prototypes have', () => {
    expect(
      run('const o = {}; o.toString = () => "own"; o.constructor = 1; JSON.stringify([String(o), Object.keys(o)])'),
    ).toBe('["own",["toString","constructor"]]');
    expect(run('class E extends Error { constructor() { super("m"); this.name = "E"; } } String(new E())')).toBe(
      'E: m',
    );
    expect(run('String(Object.prototype) + ({}).hasOwnProperty("toString")')).toBe('[object Object]false');
  });

  it('forgets what was matched', () => {
    expect(run('/(secret)/.exec("secret"); String([RegExp.$1, RegExp.input, RegExp["$_"]])')).toBe(',,');
  });
});
