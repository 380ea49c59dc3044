import { beforeEach, describe, expect, it } from '@jest/globals';
import { Admission, type Admitted, type Verdict, type Wait } from './admission.js';
import { type FreshTables } from '#libs/kernel/table-freshness.js';
import { FRESH } from '#libs/kernel/testing/fresh-tables.js';
import { type Delivery } from './delivery-records.js';
import { KEY } from './testing/worker-harness.js';
import { EventOrder } from './event-order.js';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';
import { type WebhookTarget } from './webhook-directory.js';
import { DEFAULT_WEBHOOK_SETTINGS } from './webhook-settings.js';

const START = 1_700_000_000_000;
const SETTINGS = { ...DEFAULT_WEBHOOK_SETTINGS, concurrency: 4, maxAgeMs: 60_000 };

let now: number;
let targets: Map<string, WebhookTarget>;
let errors: string[];
/** Resolves when the directory has applied the whole event log. */
let holdAll: FreshTables['holdAll'];
let admission: Admission;

const webhook = (id: string, more: Partial<WebhookTarget> = {}): void => {
  const url = `http://${id}.example/path?a=1`;
  targets.set(id, { id, url, workspaceId: 'o_1', active: true, timeoutMs: 2000, signingKeys: () => [KEY], ...more });
};

const deliveryTo = (id: string, more: Partial<Delivery> = {}): Delivery => {
  const at = String(START);
  const of = { webhook: id, workspace: 'o_1', emitter: 'dc_1', channel: '', emit: 'e', event: '1-1', attempt: '1', at };
  return { headers: { id: 'dlv_1', ...of }, body: '{}', attempt: 1, defers: 0, at: START, ...more };
};

const ask = (id: string, more: Partial<Delivery> = {}): Verdict | Wait =>
  admission.admit(deliveryTo(id, more), `lane.${id}`);

/** Asks again once the keys were read. */
const admitted = async (id: string): Promise<Admitted> => {
  for (let verdict = ask(id); ; verdict = ask(id)) {
    if (verdict instanceof Promise) await verdict;
    else if (verdict.kind === 'send') return verdict;
    else throw new Error(verdict.kind);
  }
};

const end = (one: Admitted, well: boolean, ms = 10): void => admission.finished(one, { well, ms, now, holdMs: 0 });

const prove = async (id: string): Promise<void> => end(await admitted(id), true);

beforeEach(() => {
  now = START;
  targets = new Map();
  errors = [];
  holdAll = FRESH.holdAll;
  admission = new Admission({
    directory: { find: (id) => targets.get(id) },
    tables: { holdAll: (over) => holdAll(over) },
    settings: SETTINGS,
    clock: { now: () => now },
    random: () => 0,
    logger: { error: (_, message) => errors.push(message) },
    order: new EventOrder(new InMemoryDueStore()),
  });
});

describe('Admission', () => {
  it('admits a delivery once the keys of its webhook are read, and answers without a promise from then on', async () => {
    webhook('wh_1');
    expect(ask('wh_1')).toBeInstanceOf(Promise);
    const first = await admitted('wh_1');
    expect(first).toMatchObject({ origin: 'http://wh_1.example', prepared: { path: '/path?a=1' }, slow: true });
    end(first, true);
    expect(ask('wh_1')).toMatchObject({ kind: 'send', slow: false, probe: false });
    expect(admission.inFlight).toBe(1);
  });

  it('skips a delivery to an inactive webhook, and drops one to an address that is no URL', async () => {
    webhook('wh_1', { active: false });
    webhook('wh_2', { url: 'ftp://files.example' });
    expect(ask('wh_1')).toEqual({ kind: 'skip' });
    await ask('wh_2');
    expect(ask('wh_2')).toEqual({ kind: 'drop', error: 'INVALID_URL: ftp://files.example' });
  });

  it('drops a delivery to a webhook that the whole event log does not know', async () => {
    expect(await ask('wh_0')).toEqual({ kind: 'drop', error: 'unknown webhook' });
  });

  it('asks again for a webhook that the directory learns of while it follows the event log', async () => {
    holdAll = async () => {
      webhook('wh_0');
      return true;
    };
    expect(await ask('wh_0')).toBeUndefined();
    expect((await admitted('wh_0')).target.id).toBe('wh_0');
  });

  it('puts a delivery to an unknown webhook off while the event log cannot be followed', async () => {
    holdAll = async () => false;
    expect(await ask('wh_0')).toEqual({ kind: 'put off', dueAt: START + 5_000 });
    expect(await ask('wh_0', { defers: 9 })).toEqual({ kind: 'put off', dueAt: START + 5_000 });
  });

  it('puts a delivery off when the signing keys cannot be read', async () => {
    webhook('wh_1', { signingKeys: () => Promise.reject(new Error('sealed')) });
    expect(await ask('wh_1')).toEqual({ kind: 'put off', dueAt: START + 30_000 });
    expect(errors).toEqual(['signing keys cannot be read; delivery put off']);
  });

  it('sends two deliveries to an endpoint that has not answered yet, and more when it has', async () => {
    webhook('wh_1');
    const first = await admitted('wh_1');
    await admitted('wh_1');
    const wait = ask('wh_1');
    expect(wait).toBeInstanceOf(Promise);
    end(first, true);
    expect(await wait).toBeUndefined();
    expect(ask('wh_1')).toMatchObject({ kind: 'send' });
  });

  it('leaves half of the slots to healthy endpoints, and frees a slot for the one that waits', async () => {
    webhook('wh_1');
    webhook('wh_2');
    webhook('wh_well');
    await prove('wh_well');
    const slow = [await admitted('wh_1'), await admitted('wh_1')];
    await ask('wh_2');
    const wait = ask('wh_2');
    expect(wait).toBeInstanceOf(Promise);
    expect(ask('wh_well')).toMatchObject({ kind: 'send' });
    end(slow[0] as Admitted, false);
    expect(await wait).toBeUndefined();
    expect(ask('wh_2')).toMatchObject({ kind: 'send', slow: true });
  });

  it('puts deliveries off while the breaker is open, sends one probe, and makes the others wait for its result', async () => {
    webhook('wh_1');
    for (let i = 0; i < SETTINGS.breaker.failuresInRow; i++) end(await admitted('wh_1'), false);
    expect(ask('wh_1')).toMatchObject({ kind: 'put off' });
    expect(ask('wh_1', { at: START - 60_001 })).toEqual({
      kind: 'drop',
      error: 'expired while the endpoint was failing',
    });
    expect([...admission.healthyLanes()]).toEqual([]);
    now += SETTINGS.breaker.openMs * 2;
    const probe = await admitted('wh_1');
    expect(probe.probe).toBe(true);
    const wait = ask('wh_1');
    expect(wait).toBeInstanceOf(Promise);
    end(probe, true);
    expect(await wait).toBeUndefined();
    expect(ask('wh_1')).toMatchObject({ kind: 'send', probe: false });
  });

  it('lists the lanes of healthy endpoints, without deleted webhooks and lanes that it forgot', async () => {
    for (const id of ['wh_1', 'wh_2', 'wh_3']) webhook(id);
    for (const id of ['wh_1', 'wh_2', 'wh_3']) await prove(id);
    expect([...admission.healthyLanes()]).toEqual(['lane.wh_1', 'lane.wh_2', 'lane.wh_3']);
    targets.delete('wh_1');
    admission.forgetLane('lane.wh_2');
    expect([...admission.healthyLanes()]).toEqual(['lane.wh_3']);
  });

  it('wakes all that wait', async () => {
    webhook('wh_1');
    await admitted('wh_1');
    await admitted('wh_1');
    const waits = [ask('wh_1'), ask('wh_1')];
    admission.wakeAll();
    for (const wait of waits) expect(await wait).toBeUndefined();
  });
});
