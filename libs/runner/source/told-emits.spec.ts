import { describe, expect, it } from '@jest/globals';
import { TOLD_CHARACTERS, TOLD_EMITS, toldEmits } from './told-emits.js';

const emit = (payload: string) => ({ payload, channel: '' });

// docs/reference/limits.md#run-told-emits
describe('the emits that the caller of a run is told', () => {
  it('have their channel, payload and summary, and whether they were dropped', () => {
    const [first, second] = [{ ...emit('1'), channel: 'x', summary: 'One' }, emit('{"a":1}')];
    expect(toldEmits([first, second], new Set([second]))).toEqual([
      { channel: 'x', payload: '1', summary: 'One', dropped: null },
      { channel: '', payload: '{"a":1}', summary: null, dropped: 'dedupe' },
    ]);
  });

  it('are the first ones, as many as fit', () => {
    const many = Array.from({ length: TOLD_EMITS + 1 }, (_, n) => emit(String(n)));
    expect(toldEmits(many, new Set())).toHaveLength(TOLD_EMITS);
    const large = emit('x'.repeat(TOLD_CHARACTERS / 2));
    expect(toldEmits([large, large, emit('1')], new Set())).toHaveLength(2);
  });
});
