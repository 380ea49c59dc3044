import { describe, expect, it } from '@jest/globals';
import { changesBetween } from './changes.js';

describe('changes between two states', () => {
  it('name each field that differs, with what it was and is', () => {
    const before = { name: 'a', active: true, props: { x: 1, y: [1] }, gone: 1 };
    const after = { name: 'b', active: true, props: { x: 1, y: [1, 2], z: null } };
    expect(changesBetween(before, after)).toEqual([
      { path: 'name', before: 'a', after: 'b' },
      { path: 'props.y', before: [1], after: [1, 2] },
      { path: 'props.z', after: null },
      { path: 'gone', before: 1 },
    ]);
    expect(changesBetween(after, { ...after })).toEqual([]);
  });

  it('list every field of a new resource, and nothing deeper of a new field', () => {
    expect(changesBetween(undefined, { a: 1, b: { c: 2 } })).toEqual([
      { path: 'a', after: 1 },
      { path: 'b', after: { c: 2 } },
    ]);
  });

  it('are bounded in number, depth and size', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, i]));
    expect(changesBetween({}, many)).toHaveLength(50);
    const [long] = changesBetween({ a: 1 }, { a: 'x'.repeat(10_000) });
    expect(String(long?.after)).toHaveLength(501);
    const deep = (value: number): object => ({ a: { a: { a: { a: { a: { a: { a: { a: value } } } } } } } });
    expect(changesBetween(deep(1), deep(2)).map(({ path }) => path)).toEqual(['a.a.a.a.a.a']);
  });
});
