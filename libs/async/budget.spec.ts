import { describe, expect, it } from '@jest/globals';
import { Budget } from './budget.js';

const made = (): Budget<'user' | 'workspace'> =>
  new Budget<'user' | 'workspace'>({ user: 10, workspace: 15, process: 25 });

describe('Budget', () => {
  it('names the scope that an amount would exceed, its limit and what it would hold', () => {
    const budget = made();
    const ann = { user: 'ann', workspace: 'w1' };
    expect(budget.tryHold(ann, 10)).toBeUndefined();
    expect(budget.tryHold(ann, 1)).toEqual({ scope: 'user', limit: 10, actual: 11 });
    expect(budget.tryHold({ user: 'bob', workspace: 'w1' }, 6)).toEqual({ scope: 'workspace', limit: 15, actual: 16 });
    expect(budget.tryHold({ user: 'bob', workspace: 'w2' }, 10)).toBeUndefined();
    expect(budget.tryHold({ user: 'cem', workspace: 'w3' }, 6)).toEqual({ scope: 'process', limit: 25, actual: 26 });
    // What was refused is not counted.
    expect(budget.inUse).toBe(20);
    expect(budget.heldBy('user', 'cem')).toBe(0);
  });

  it('has room again after a release, and keeps nothing about a holder that holds nothing', () => {
    const budget = made();
    const ann = { user: 'ann', workspace: 'w1' };
    budget.tryHold(ann, 10);
    budget.release(ann, 4);
    expect(budget.heldBy('user', 'ann')).toBe(6);
    expect(budget.tryHold(ann, 4)).toBeUndefined();
    budget.release(ann, 10);
    expect(Reflect.get(budget, 'held')).toEqual(new Map());
  });

  it('counts what has no holder for the process only', () => {
    const budget = made();
    expect(budget.tryHold({}, 20)).toBeUndefined();
    expect(budget.tryHold({ user: 'ann' }, 6)).toMatchObject({ scope: 'process' });
  });

  it('counts what exists already above the limit too', () => {
    const budget = made();
    budget.hold({ user: 'ann' }, 40);
    expect(budget.over({ user: 'ann' }, 0)).toEqual({ scope: 'user', limit: 10, actual: 40 });
    expect(budget.over({ user: 'bob' }, 0)).toEqual({ scope: 'process', limit: 25, actual: 40 });
  });
});
