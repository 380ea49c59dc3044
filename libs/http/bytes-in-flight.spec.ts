import { describe, expect, it } from '@jest/globals';
import { holdersOf, httpBytes } from './bytes-in-flight.js';
import { type Caller } from './callers.js';

const MB = 1024 * 1024;
const caller = (over: Partial<Caller>): Caller => ({
  userId: 'u_1',
  apiKeyId: 'key_1',
  workspaceIds: ['o_1'],
  ...over,
});

// docs/reference/limits.md#bytes-in-flight
describe('bytes in flight', () => {
  it.each<[string, Partial<Caller>, object]>([
    ['the only workspace', {}, { user: 'u_1', workspace: 'o_1' }],
    ['that of the account', { workspaceIds: ['o_2', 'o_1'], home: 'o_1' }, { user: 'u_1', workspace: 'o_1' }],
    ['the named one', { workspaceIds: ['o_2'], named: 'o_2', home: 'o_1' }, { user: 'u_1', workspace: 'o_2' }],
    ['none, where the request acts in none', { workspaceIds: ['o_1', 'o_2'] }, { user: 'u_1' }],
  ])('count for the user and %s', (_, over, holders) => expect(holdersOf(caller(over))).toEqual(holders));

  it('are refused with both figures and the scope, and others have room', () => {
    const { bodies } = httpBytes(MB, 8 * MB, 64 * MB);
    const ann = { user: 'u_ann', workspace: 'o_1' };
    expect(bodies.tryHold(ann, 8 * MB)).toBeUndefined();
    expect(bodies.tryHold(ann, 1)).toMatchObject({
      code: 'request.too_much_in_flight',
      details: { scope: 'user', limit: 8 * MB, actual: 8 * MB + 1 },
    });
    expect(bodies.tryHold({ user: 'u_bob', workspace: 'o_1' }, 8 * MB)).toBeUndefined();
    expect(bodies.tryHold({ user: 'u_cem', workspace: 'o_1' }, 1)).toMatchObject({ details: { scope: 'workspace' } });
    expect(bodies.tryHold({ user: 'u_cem', workspace: 'o_2' }, 8 * MB)).toBeUndefined();
    bodies.release(ann, 8 * MB);
    expect(bodies.tryHold(ann, 8 * MB)).toBeUndefined();
  });
});
