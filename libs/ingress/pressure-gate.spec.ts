import { describe, expect, it } from '@jest/globals';
import { type Refusal } from '#libs/stream-log/refusal.js';
import { type Admission, allOf, type Arrival } from './admission.js';
import { PressureGate, type PressureLimits } from './pressure-gate.js';

const LIMITS: PressureLimits = {
  source: 2,
  workspace: 5,
  paced: 1_000,
  pacedMs: 0,
  bytes: 100,
  heldOfSource: 1,
  held: 3,
  heldMs: 100,
};

const world = (over: Partial<PressureLimits> = {}) => {
  const state = {
    now: 0,
    sources: new Map<string, number>(),
    workspaces: new Map<string, number>(),
    busy: 1,
    queued: 0,
  };
  const gate = new PressureGate(
    {
      ofSource: (id) => state.sources.get(id) ?? 0,
      ofWorkspace: (id) => state.workspaces.get(id) ?? 0,
      sourcesOf: () => state.busy,
      queuedBytes: () => state.queued,
    },
    { ...LIMITS, ...over },
    () => state.now,
  );
  return { ...state, state, gate };
};

const arrival = (sourceId: string, workspaceId = 'o_1', bytes = 0): Arrival => ({ sourceId, workspaceId, bytes });
const LARGE = arrival('dc_a', 'o_1', 60);
const refusalOf = async (entered: true | Promise<Refusal | undefined>): Promise<Refusal | undefined> =>
  entered === true ? undefined : entered;

describe('pressure gate', () => {
  it('admits while there is room, holds the next, refuses arrivals that do not fit or wait too long', async () => {
    const { gate, state } = world();
    expect(gate.enter(arrival('dc_a'))).toBe(true);
    gate.left(arrival('dc_a'));
    state.sources.set('dc_a', 2);
    const held = gate.enter(arrival('dc_a'));
    expect(held).not.toBe(true);
    expect(await refusalOf(gate.enter(arrival('dc_a')))).toMatchObject({ status: 503, code: 'overloaded' });
    state.sources.set('dc_a', 1);
    expect(await held).toBeUndefined();
    gate.left(arrival('dc_a'));
    state.sources.set('dc_a', 2);
    const late = gate.enter(arrival('dc_a'));
    state.now = 200;
    expect(await refusalOf(late)).toMatchObject({
      text: expect.stringContaining(
        'dc_a takes no more events for the moment: it has 2 events in flight, the limit of',
      ),
    });
    expect(gate.waitingCount()).toBe(0);
  });

  it('holds the arrivals of a busy source for a moment, and refuses none of them', async () => {
    const { gate, state } = world({ source: 10, paced: 2, pacedMs: 50, heldOfSource: 2 });
    state.sources.set('dc_a', 1);
    expect(gate.enter(arrival('dc_a'))).toBe(true);
    gate.left(arrival('dc_a'));
    state.sources.set('dc_a', 2);
    const soon = gate.enter(arrival('dc_a'));
    expect(soon).not.toBe(true);
    expect(gate.enter(arrival('dc_other'))).toBe(true);
    state.sources.set('dc_a', 1);
    expect(await soon).toBeUndefined();
    gate.left(arrival('dc_a'));

    state.sources.set('dc_a', 9);
    const [first, second] = [gate.enter(arrival('dc_a')), gate.enter(arrival('dc_a'))];
    // There is no place to wait, but room.
    expect(gate.enter(arrival('dc_a'))).toBe(true);
    gate.left(arrival('dc_a'));
    state.now = 49;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(gate.waitingCount()).toBe(2);
    state.now = 50;
    expect(await first).toBeUndefined();
    // The first has the last place, so the second waits like one above the limit.
    expect(gate.waitingCount()).toBe(1);
    gate.left(arrival('dc_a'));
    expect(await second).toBeUndefined();
  });

  it('holds no other source; one limit for all sources would (control)', async () => {
    const { gate, state } = world();
    state.sources.set('dc_hog', 1_000);
    state.workspaces.set('o_1', 2);
    const sumOfAll = [...state.sources.values()].reduce((sum, each) => sum + each, 0);
    expect(sumOfAll).toBeGreaterThan(512);
    const held = gate.enter(arrival('dc_hog'));
    expect(held).not.toBe(true);
    expect(gate.enter(arrival('dc_sibling'))).toBe(true);
    expect(gate.enter(arrival('dc_other', 'o_2'))).toBe(true);
    gate.close();
    expect(await held).toMatchObject({ text: expect.stringContaining('shutting down') });
  });

  it('holds a workspace above its own limit, and not the next one', async () => {
    const { gate, state } = world({ source: 10 });
    state.workspaces.set('o_1', 5);
    state.sources.set('dc_a', 6);
    const held = gate.enter(arrival('dc_a'));
    expect(gate.enter(arrival('dc_b', 'o_2'))).toBe(true);
    state.now = 200;
    expect(await refusalOf(held)).toMatchObject({
      text: expect.stringContaining(
        'its workspace has 5 events in flight, the limit is 5; it has 6 of them, above its share of 5',
      ),
    });
  });

  it('holds of a workspace above its limit only the sources with more than an equal share', () => {
    const { gate, state } = world({ source: 10, workspace: 20, heldOfSource: 5 });
    state.workspaces.set('o_1', 20);
    state.busy = 4;
    for (const id of ['dc_a', 'dc_b']) state.sources.set(id, 9);
    state.sources.set('dc_c', 5);
    const entered = ['dc_a', 'dc_b', 'dc_c', 'dc_idle'].map((id) => gate.enter(arrival(id)) === true);
    expect(entered).toEqual([false, false, true, true]);
    gate.close();
  });

  it('counts an admitted arrival until it is stored', async () => {
    const { gate } = world();
    expect([gate.enter(arrival('dc_a')), gate.enter(arrival('dc_a'))]).toEqual([true, true]);
    const third = gate.enter(arrival('dc_a'));
    expect(third).not.toBe(true);
    gate.left(arrival('dc_a'));
    expect(await third).toBeUndefined();
    gate.left(arrival('dc_a'));
    gate.left(arrival('dc_a'));
    expect(gate.enter(arrival('dc_a'))).toBe(true);
  });

  it('admits the many waiting sources of a workspace by turns', async () => {
    const { gate, state } = world({ heldOfSource: 3, held: 10, source: 10 });
    state.workspaces.set('o_1', 5);
    for (const id of ['dc_a', 'dc_b']) state.sources.set(id, 6);
    const order: string[] = [];
    const held = ['dc_a', 'dc_a', 'dc_a', 'dc_b'].map(async (id) => {
      const refusal = await refusalOf(gate.enter(arrival(id)));
      state.workspaces.set('o_1', 5);
      gate.left(arrival(id));
      order.push(refusal ? 'refused' : id);
    });
    // There is room for one at a time. Each is stored, and in flight, before the next.
    for (let n = 1; n <= 4; n++) {
      state.workspaces.set('o_1', 4);
      while (order.length < n) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(held);
    expect(order.indexOf('dc_b')).toBeLessThanOrEqual(1);
  });

  it('holds above the limit of bytes what has more than its share, of the workspaces and then of their sources', () => {
    const { gate } = world({ source: 100, workspace: 100, heldOfSource: 10, held: 10 });
    expect(gate.enter(arrival('dc_hog', 'o_1', 80))).toBe(true);
    expect(gate.enter(arrival('dc_b', 'o_1', 10))).toBe(true);
    expect(gate.enter(arrival('dc_c', 'o_2', 5))).toBe(true);
    const entered = [
      gate.enter(arrival('dc_hog', 'o_1', 10)),
      gate.enter(arrival('dc_b', 'o_1', 10)),
      gate.enter(arrival('dc_d', 'o_2', 40)),
    ];
    expect(entered.map((each) => each === true)).toEqual([false, true, true]);
    gate.close();
  });

  it('counts bytes until they are stored', async () => {
    const { gate, state } = world({ source: 100, workspace: 100 });
    expect(gate.enter(LARGE)).toBe(true);
    const held = gate.enter(LARGE);
    expect(held).not.toBe(true);
    gate.left(LARGE);
    expect(await held).toBeUndefined();
    const late = gate.enter(arrival('dc_a', 'o_1', 50));
    state.now = 200;
    expect(await refusalOf(late)).toMatchObject({
      text: expect.stringContaining('uses 110 bytes, above its share of 100 bytes'),
    });
  });

  it('admits no source above twice the limit of bytes, but one event alone whatever waits for the disk', () => {
    const { gate, state } = world({ source: 100, workspace: 100, held: 10 });
    state.queued = 1_000;
    expect(gate.enter(arrival('dc_a', 'o_1', 5))).toBe(true);
    expect(gate.enter(arrival('dc_b', 'o_2', 5))).not.toBe(true);
    gate.close();
  });
});

describe('admission rules', () => {
  const rule = (answers: readonly (Refusal | undefined | true)[]) => {
    const left: string[] = [];
    const admission: Admission = {
      enter: () => {
        const answer = answers[asked++];
        return answer === true ? true : Promise.resolve(answer);
      },
      left: ({ sourceId }) => void left.push(sourceId),
    };
    let asked = 0;
    return { admission, left };
  };
  const no: Refusal = { status: 503, code: 'full', text: 'no', retryAfterS: 1 };

  it('must all admit an arrival; those that had are told when another refuses', async () => {
    const [one, two, three] = [rule([true, true, true]), rule([undefined, no, true]), rule([true, true])];
    const all = allOf(one.admission, two.admission, three.admission);
    expect(await all.enter(arrival('dc_a'))).toBeUndefined();
    all.left(arrival('dc_a'));
    expect(await all.enter(arrival('dc_b'))).toBe(no);
    expect(all.enter(arrival('dc_c'))).toBe(true);
    expect([one.left, two.left, three.left]).toEqual([['dc_a', 'dc_b'], ['dc_a'], ['dc_a']]);
  });
});
