import { describe, expect, it } from '@jest/globals';
import { DeliverySemaphore } from './delivery-semaphore.js';

describe('DeliverySemaphore', () => {
  it('gives slow endpoints half of the slots and healthy ones all that is left', () => {
    const slots = new DeliverySemaphore(4);
    expect([1, 2, 3].map(() => slots.tryAcquire(true))).toEqual([true, true, false]);
    expect([1, 2, 3].map(() => slots.tryAcquire(false))).toEqual([true, true, false]);
    slots.release(true);
    expect(slots.tryAcquire(false)).toBe(true);
    expect(slots.inUse).toBe(4);
  });

  it('wakes the next waiter that could take a slot, even if the previous one did not', async () => {
    const slots = new DeliverySemaphore(1);
    slots.tryAcquire(false);
    const woken: string[] = [];
    const first = slots.freed(false).then(() => woken.push('first'));
    const second = slots.freed(true).then(() => woken.push('second'));
    slots.release(false);
    await first;
    expect(woken).toEqual(['first']);
    slots.wakeNext();
    await second;
    expect(woken).toEqual(['first', 'second']);
  });

  it('skips a slow waiter when only healthy ones may go', async () => {
    const slots = new DeliverySemaphore(2);
    slots.tryAcquire(true);
    slots.tryAcquire(false);
    const woken: string[] = [];
    void slots.freed(true).then(() => woken.push('slow'));
    const well = slots.freed(false).then(() => woken.push('well'));
    slots.release(false);
    await well;
    expect(woken).toEqual(['well']);
  });
});
