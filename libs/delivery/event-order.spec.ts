import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Delivery } from './delivery-records.js';
import { EventOrder } from './event-order.js';
import { type WaitingHeaders } from '#libs/due/due-store.js';

const NOW = 1_700_000_000_000;

const delivery = (n: number, at = NOW): Delivery => {
  const of = { webhook: 'wh_1', workspace: 'o_1', emitter: 'dc_1', channel: '', emit: `e${n}` };
  const headers = { id: `dlv_${n}`, ...of, event: `1700000000000-${n}`, attempt: '1', at: String(at) };
  return { headers, body: '{}', attempt: 1, defers: 0, at };
};
const entry = (n: number, dueAt: number): WaitingHeaders => ({ headers: delivery(n).headers, dueAt });

let waiting: WaitingHeaders[];
let reads: number;
let order: EventOrder;

beforeEach(() => {
  waiting = [];
  reads = 0;
  order = new EventOrder({
    waitingOf: async () => {
      reads += 1;
      return waiting;
    },
  });
});

/** Asks until there is an answer. */
const heldUntil = async (of: Delivery, now = NOW): Promise<number | undefined> => {
  for (;;) {
    const answer = order.heldUntil(of, now);
    if (!(answer instanceof Promise)) return answer;
    await answer;
  }
};

describe('EventOrder', () => {
  it('lets everything pass while nothing waits, and reads the due store once', async () => {
    for (const n of [1, 2, 3]) expect(await heldUntil(delivery(n))).toBeUndefined();
    expect(reads).toBe(1);
  });

  it('holds later events back until after all that wait, and lets the first and earlier ones pass', async () => {
    waiting = [entry(2, NOW + 5_000), entry(3, NOW + 9_000)];
    expect(await heldUntil(delivery(4))).toBe(NOW + 9_001);
    expect(await heldUntil(delivery(3))).toBe(NOW + 9_001);
    expect(await heldUntil(delivery(2))).toBeUndefined();
    expect(await heldUntil(delivery(1))).toBeUndefined();
  });

  it('orders by arrival at the router first, then by the number within a millisecond, not as text', async () => {
    waiting = [entry(10, NOW + 5_000)];
    expect(await heldUntil(delivery(9))).toBeUndefined();
    expect(await heldUntil(delivery(11))).toBe(NOW + 5_001);
    expect(await heldUntil(delivery(1, NOW + 1))).toBe(NOW + 5_001);
  });

  it('knows what goes to the due store and what ends, in any order', async () => {
    await heldUntil(delivery(1));
    order.waits(delivery(1), NOW + 100);
    order.waits(delivery(2), NOW + 500);
    expect(await heldUntil(delivery(3))).toBe(NOW + 501);
    order.waits(delivery(1), NOW + 900);
    expect(await heldUntil(delivery(3))).toBe(NOW + 901);
    order.ended(delivery(1));
    expect(await heldUntil(delivery(2), NOW + 500)).toBeUndefined();
    order.ended(delivery(2));
    expect(await heldUntil(delivery(3))).toBeUndefined();
  });

  it('reads the due store again when an entry is long overdue, because another process may have ended it', async () => {
    waiting = [entry(1, NOW)];
    expect(await heldUntil(delivery(2))).toBeGreaterThan(NOW);
    waiting = [];
    expect(await heldUntil(delivery(2), NOW + 20_000)).toBeGreaterThan(NOW + 20_000);
    expect(await heldUntil(delivery(2), NOW + 40_000)).toBeUndefined();
    expect(reads).toBe(2);
  });

  it('reads anew after it forgot, and tries again when a read fails', async () => {
    await heldUntil(delivery(1));
    order.forget();
    waiting = [entry(1, NOW + 5)];
    expect(await heldUntil(delivery(2))).toBeGreaterThan(NOW);
    const failing = new EventOrder({ waitingOf: () => Promise.reject(new Error('away')) });
    await expect(failing.heldUntil(delivery(1), NOW)).rejects.toThrow('away');
    await expect(failing.heldUntil(delivery(1), NOW)).rejects.toThrow('away');
  });
});
