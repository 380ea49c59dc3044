import { describe, expect, it } from '@jest/globals';
import { lossIn, mayLose } from './json-loss.js';

class Money {
  #cents = 5;
  get cents(): number {
    return this.#cents;
  }
}

const LOSSES: readonly (readonly [unknown, string])[] = [
  [new Map([['a', 1]]), 'the event is a Map and becomes {}: pass Object.fromEntries(map)'],
  [new Set([1]), 'the event is a Set and becomes {}: pass [...set]'],
  [{ tags: new Set([1]) }, 'tags in the event is a Set and becomes {}: pass [...set]'],
  [
    { list: [{ at: [1, undefined] }] },
    'list[0].at[1] in the event is undefined, which JSON writes as null: filter the list',
  ],
  [[() => 1], '[0] in the event is a function, which JSON writes as null: filter the list'],
  [{ id: 1, save: () => 1 }, 'save in the event is a function, which JSON leaves out: remove it, or pass its result'],
  [{ mark: Symbol('x') }, 'mark in the event is a symbol, which JSON leaves out: remove it, or pass its result'],
  [
    new TypeError('no'),
    'the event is an Error, whose message JSON leaves out: pass { name: error.name, message: error.message }',
  ],
  [/x/, 'the event is a RegExp and becomes {}: pass String(regexp)'],
  [Promise.resolve(1), 'the event is a Promise and becomes {}: write "await" before it'],
  [new URLSearchParams('a=1'), 'the event is a URLSearchParams and becomes {}: pass Object.fromEntries(params)'],
  [new Money(), 'the event is an instance of Money and becomes {}: copy its fields into a plain object'],
  [NaN, 'the event is NaN, which JSON writes as null'],
  [{ n: Infinity }, 'n in the event is Infinity, which JSON writes as null'],
  [{ body: undefined }, 'body in the event is undefined, which JSON leaves out, so nothing but {} is left'],
];

describe('what JSON loses', () => {
  it.each(LOSSES)('%p', (value, text) => {
    expect(mayLose(value, JSON.stringify(value) ?? '')).toBe(true);
    expect(lossIn(value, 'the event')).toBe(text);
  });

  it('is nothing for values that JSON holds, and for those that say what they become', () => {
    const values: readonly unknown[] = [
      ...[
        {},
        [],
        null,
        { a: null, b: {}, c: [null] },
        { a: 1, b: undefined },
        Object.create(null) as unknown,
        'x',
        0,
        true,
      ],
      ...[new Date(0), new URL('http://a/'), Buffer.from('a'), { toJSON: () => new Map() }, new Uint8Array(2)],
    ];
    for (const value of values) expect(lossIn(value, 'the event')).toBeUndefined();
  });

  it('calls no getter, survives a hostile value, and looks at a bounded part of a large one', () => {
    let calls = 0;
    const value = {
      get it() {
        calls++;
        return new Map();
      },
    };
    expect([lossIn(value, 'x'), calls]).toEqual([undefined, 0]);
    const trap = (): never => {
      throw new Error('trap');
    };
    expect(lossIn(new Proxy({}, { ownKeys: trap, get: trap }), 'x')).toBeUndefined();
    const self: Record<string, unknown> = {};
    self['self'] = self;
    expect(lossIn(self, 'x')).toBeUndefined();
    expect(lossIn([...Array.from({ length: 6_000 }, () => 1), undefined], 'x')).toBeUndefined();
  });

  it('is looked for in the first 32 values of a process, then in every 32nd', () => {
    for (let i = 0; i < 64; i++) mayLose({ a: 1 }, '{"a":1}');
    const looks = Array.from({ length: 64 }, () => mayLose({ a: 1 }, '{"a":1}'));
    expect(looks.filter(Boolean)).toHaveLength(2);
    expect([mayLose(new Map(), '{}'), mayLose('text', '"text"'), mayLose(5, '5')]).toEqual([true, false, false]);
  });
});
