import { describe, expect, it } from '@jest/globals';
import { DbDraft } from './db-draft.js';
import { RUN_LIMITS } from '#libs/sandbox/index.js';

const filled = (keys: number, value: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, value]));

describe('a draft of $.service.db', () => {
  it('applies the changes of successive runs, even with keys such as __proto__', () => {
    const draft = new DbDraft({ a: '1', b: '2' });
    expect(draft.apply({ a: null, c: '3' })).toBeUndefined();
    expect(draft.apply(Object.fromEntries([['__proto__', '4']]))).toBeUndefined();
    expect(draft.apply({ constructor: '5', missing: null })).toBeUndefined();
    const entries = Object.entries(draft.result());
    expect(entries).toEqual([
      ['b', '2'],
      ['c', '3'],
      ['__proto__', '4'],
      ['constructor', '5'],
    ]);
    expect(new DbDraft(draft.result()).result()).toBe(draft.result());
  });

  it('refuses all changes of a run that exceed a limit, and goes on with the next run', () => {
    const draft = new DbDraft({ kept: '1' });
    const value = 'x'.repeat(60_000);
    expect(draft.apply({ kept: '2', ...filled(20, value) })).toMatch(/would have 1\d{6} bytes/);
    expect(draft.apply(filled(RUN_LIMITS.dbKeys, '1'))).toMatch(/would have 10001 keys/);
    expect(draft.apply({ next: '3' })).toBeUndefined();
    expect(draft.result()).toEqual({ kept: '1', next: '3' });
  });

  it('counts UTF-8 bytes of keys and values', () => {
    expect(new DbDraft({}).apply(filled(20, 'ü'.repeat(27_000)))).toMatch(/bytes/);
    expect(new DbDraft({}).apply(filled(20, 'u'.repeat(27_000)))).toBeUndefined();
  });

  it('lets a store that is too large shrink', () => {
    const before = filled(RUN_LIMITS.dbKeys + 5, '1');
    expect(new DbDraft(before).apply({ k0: null })).toBeUndefined();
    expect(new DbDraft(before).apply({ k0: null, other: '1' })).toBeUndefined();
    expect(new DbDraft(before).apply({ other: '1' })).toMatch(/keys/);
  });
});
