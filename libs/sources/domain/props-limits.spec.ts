import { describe, expect, it } from '@jest/globals';
import { plan, prop, refusal } from '../testing/planned-props.js';
import { MAX_TOTAL_BYTES } from './props.js';

describe('timers, endpoints and secrets', () => {
  it.each([
    ['$.interface.timer', {}, 20],
    ['$.interface.http', {}, 20],
    ['string', { secret: true, optional: true }, 50],
  ])('of type %s are limited, also for a component that was saved before the limit existed', (type, more, limit) => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => prop(type, { ...more, name: `p${n}` }));
    const given = Object.fromEntries(
      many(60).map(({ name }) => [name, type === 'string' ? 'text' : { intervalSeconds: 60 }]),
    );
    expect(() => plan(many(limit), given)).not.toThrow();
    expect(refusal(() => plan(many(limit + 1), given))).toMatchObject({
      code: 'source.invalid_prop',
      details: { prop: `p${limit}`, limit, actual: limit + 1 },
    });
  });
});

describe('all values together', () => {
  const props = Array.from({ length: 20 }, (_, n) => prop('string', { name: `p${n}` }));
  const values = (count: number, secretFrom = count) => {
    const given = Object.fromEntries(props.slice(0, count).map(({ name }) => [name, 'x'.repeat(60 * 1024)]));
    const optional = props.map((each, n) => ({ ...each, optional: true, secret: n >= secretFrom }));
    return () => plan(optional, given);
  };

  it('have a limit that includes secrets, stored values and given values', () => {
    expect(values(17)().props).toHaveLength(17);
    for (const act of [values(18), values(18, 3)]) {
      expect(refusal(act)).toMatchObject({
        code: 'source.invalid_prop',
        details: { field: 'configured_props', limit: MAX_TOTAL_BYTES },
      });
    }
    const before = values(17)().props;
    expect(() => plan(props.slice(0, 18), { p17: 'x'.repeat(60 * 1024) }, before)).toThrow(/the limit is 1048576/);
  });
});
