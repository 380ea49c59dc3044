import { describe, expect, it } from '@jest/globals';
import { recorded } from './testing/recorded.js';
import { Upcasters } from './upcasting.js';

const upcasters = new Upcasters().register('Moved', [
  ({ x }) => ({ place: { x } }),
  ({ place }) => ({ place, unit: 'mm' }),
]);
const moved = (data: object, schemaVersion: number) =>
  recorded('thing-1', { type: 'Moved', data }, { metadata: { schemaVersion } });

describe('upcasting', () => {
  it.each([
    { written: 1, data: { x: 3 } },
    { written: 2, data: { place: { x: 3 } } },
    { written: 3, data: { place: { x: 3 }, unit: 'mm' } },
  ])('lifts version $written to the current one', ({ written, data }) => {
    const event = upcasters.upcast(moved(data, written));
    expect(event.data).toEqual({ place: { x: 3 }, unit: 'mm' });
    expect(event.metadata.schemaVersion).toBe(3);
  });

  it('leaves events without steps, and those of a later version, unchanged', () => {
    const other = recorded('thing-1', { type: 'Other', data: { a: 1 } });
    expect(upcasters.upcast(other)).toBe(other);
    const later = moved({ z: 1 }, 4);
    expect(upcasters.upcast(later)).toBe(later);
  });

  it('returns the version that a writer stamps', () => {
    expect([upcasters.currentVersion('Moved'), upcasters.currentVersion('Other')]).toEqual([3, 1]);
  });

  it('refuses a second registration', () => {
    expect(() => upcasters.register('Moved', [])).toThrow('upcasters of Moved are already registered');
  });
});
