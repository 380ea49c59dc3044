import { describe, expect, it } from '@jest/globals';
import { costOf, FetchBudget } from './fetch-budget.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await turn();
};

describe('FetchBudget', () => {
  it('counts more than the texts of a record', () => {
    expect(costOf({ size: 100 })).toBeGreaterThan(100);
  });

  it('tells what is held and the limit', () => {
    const budget = new FetchBudget(1_000);
    budget.take(700);
    budget.give(200);
    expect(budget.usage()).toEqual({ held: 500, limit: 1_000 });
  });

  it('gives a lane a smaller share, the less is free, and never nothing', () => {
    const budget = new FetchBudget(64 << 20);
    expect(budget.share).toBe(1 << 20);
    budget.take(48 << 20);
    expect(budget.share).toBe((16 << 20) / 32);
    budget.take(100 << 20);
    expect([budget.free < 0, budget.share]).toEqual([true, 64 << 10]);
  });

  it('lets those that wait have turns in order, once each, while there is room', async () => {
    const budget = new FetchBudget(1_000);
    budget.take(1_000);
    const order: number[] = [];
    const waiting = Array.from({ length: 20 }, (_, n) => () => {
      order.push(n);
      budget.take(100);
    });
    for (const each of waiting) budget.wait(each);
    budget.wait(waiting[0]!);
    budget.forget(waiting[1]!);
    await turns(5);
    expect(order).toEqual([]);
    budget.give(350);
    await turns(5);
    // The last record may exceed the room.
    expect(order).toEqual([0, 2, 3, 4]);
    budget.give(2_000);
    await turns(5);
    expect(order).toEqual([0, ...Array.from({ length: 18 }, (_, n) => n + 2)]);
  });

  it('frees what a lane that does not move keeps, once others have no room, and not what moves', async () => {
    const budget = new FetchBudget(1_000);
    budget.take(1_200);
    const shed: string[] = [];
    const keeping = (name: string, movedAt: () => number) => ({
      get movedAt() {
        return movedAt();
      },
      shed: () => {
        shed.push(name);
        budget.give(300);
      },
    });
    budget.offer(keeping('moves', () => performance.now()));
    budget.offer(keeping('idle', () => 0));
    budget.offer(keeping('idle too', () => 0));
    await new Promise<void>((resolve) => budget.wait(resolve));
    expect(shed).toEqual(['idle']);
  });
});
