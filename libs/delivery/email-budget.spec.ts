import { describe, expect, it } from '@jest/globals';
import { EMAILS_A_DAY, EmailBudget, type EmailNotes } from './email-budget.js';

const DAY_MS = 86_400_000;

/** Notes that outlive a process. `failAt` makes that write, counted from 1, and all later ones fail. */
const durableNotes = () => {
  const notes = new Map<string, { readonly value: string; readonly expiresAt: number }>();
  const state = { writes: 0, failAt: Infinity };
  const write = (change: () => void): void => {
    if (++state.writes >= state.failAt) throw new Error('the process died');
    change();
  };
  const live = (now: number) => [...notes].filter(([, { expiresAt }]) => expiresAt > now);
  const port: EmailNotes = {
    get: async (store, key, now) => new Map(live(now)).get(`${store}/${key}`),
    set: async ({ storeId, key, value, expiresAt }) =>
      write(() => notes.set(`${storeId}/${key}`, { value, expiresAt })),
    delete: async (store, key) => {
      write(() => notes.delete(`${store}/${key}`));
      return true;
    },
    size: async (store, now) => live(now).filter(([place]) => place.startsWith(`${store}/`)).length,
  };
  return { port, state };
};

/** Asks for `count` emails at once, and resolves with how many are allowed. */
const allowedOf = async (budget: EmailBudget, ids: readonly string[], now = 0): Promise<number> =>
  (await Promise.all(ids.map((id) => budget.allows('p_1', id, now)))).filter(Boolean).length;
const idsOf = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${name}${n}`);

// docs/reference/workflows.md#send-email
describe('the budget of emails', () => {
  it('allows 100 of those that a workflow asks for at once, and begins again after a day', async () => {
    const budget = new EmailBudget(durableNotes().port);
    expect(await allowedOf(budget, idsOf('a', EMAILS_A_DAY + 30))).toBe(EMAILS_A_DAY);
    expect(await budget.allows('p_2', 'b', 0)).toBe(true);
    expect(await allowedOf(budget, ['c'], DAY_MS - 1)).toBe(0);
    expect(await allowedOf(budget, ['c'], DAY_MS)).toBe(1);
  });

  it('counts an email once, however often a restart or another process repeats it', async () => {
    const { port, state } = durableNotes();
    const all = idsOf('a', EMAILS_A_DAY);
    expect(await allowedOf(new EmailBudget(port), all)).toBe(EMAILS_A_DAY);
    const { writes } = state;
    expect(await allowedOf(new EmailBudget(port), all)).toBe(EMAILS_A_DAY);
    expect(await allowedOf(new EmailBudget(port), ['late'])).toBe(0);
    expect(state.writes).toBe(writes);
  });

  it.each([1, 2])('counts an email once when the process dies at write %i of it', async (failAt) => {
    const { port, state } = durableNotes();
    await allowedOf(new EmailBudget(port), idsOf('a', EMAILS_A_DAY - 1));
    state.failAt = state.writes + failAt;
    await expect(new EmailBudget(port).allows('p_1', 'last', 0)).rejects.toThrow('the process died');
    state.failAt = Infinity;
    const next = new EmailBudget(port);
    expect([await next.allows('p_1', 'last', 0), await next.allows('p_1', 'late', 0)]).toEqual([true, false]);
  });

  it('never allows one too many to two processes at once', async () => {
    const { port } = durableNotes();
    await allowedOf(new EmailBudget(port), idsOf('a', EMAILS_A_DAY - 1));
    const [one, two] = [new EmailBudget(port), new EmailBudget(port)];
    const both = await Promise.all([one.allows('p_1', 'x', 0), two.allows('p_1', 'y', 0)]);
    expect(both.filter(Boolean).length).toBeLessThanOrEqual(1);
  });
});
