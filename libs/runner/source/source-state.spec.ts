import { expect, it } from '@jest/globals';
import { partsOf, sourceStateOf } from './source-state.js';

it('keeps deduplication and $.service.db of a source apart, whatever the names', () => {
  const dedupe = { '': { strategy: 'greatest', max: 9 }, 'db/x': { strategy: 'last', id: 'z' } } as const;
  const db = { '': '1', 'dedupe/a': '2', constructor: '3', 'a/b': '4' };
  const parts = partsOf({ dedupe, db }) as Record<string, string>;
  const state = sourceStateOf({ ...parts, 'another/part': 'x' });
  expect({ dedupe: { ...state.dedupe }, db: { ...state.db } }).toEqual({ dedupe, db });
  expect(partsOf({ dedupe: { gone: null }, db: { gone: null } })).toEqual({ 'dedupe/gone': null, 'db/gone': null });
});
