import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { IdempotentRequests, KEPT_MS } from './idempotent-requests.js';
import { InMemoryIdempotencyRecords } from './testing/in-memory-idempotency-records.js';

const ASKED = { userId: 'u_1', id: 'id', fingerprint: 'same' };
const START = 1_700_000_000_000;

let now: number;
let runs: number;
let lost: unknown[];
let records: InMemoryIdempotencyRecords;
let requests: IdempotentRequests;

beforeEach(() => {
  [now, runs, lost] = [START, 0, []];
  records = new InMemoryIdempotencyRecords();
  requests = process();
});

/** Another process on the same records. */
const process = (): IdempotentRequests =>
  new IdempotentRequests(records, { now: () => now }, (error) => void lost.push(error));
const run = async (): Promise<number> => ++runs;
const once = (by = requests, asked = ASKED, work = run) =>
  by.once(asked, work, (answer) => ({ status: 200, body: String(answer) }));

describe('a request with a key', () => {
  it('runs once, and its repeats get the kept body, also in another process', async () => {
    expect(await once()).toEqual({ answer: 1 });
    expect(await once()).toEqual({ replayed: { status: 200, body: '1' } });
    expect(await once(process())).toEqual({ replayed: { status: 200, body: '1' } });
    expect(runs).toBe(1);
  });

  it('runs again after 24 hours', async () => {
    await once();
    now += KEPT_MS - 1;
    expect(await once()).toEqual({ replayed: { status: 200, body: '1' } });
    now += 1;
    expect(await once()).toEqual({ answer: 2 });
  });

  it('runs in one of many processes that are asked at once; the others are told that it runs, or get its reply', async () => {
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => once(process())));
    expect(runs).toBe(1);
    for (const each of all) {
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'request.in_progress' });
    }
    expect(await once()).toEqual({ replayed: { status: 200, body: '1' } });
  });

  it('is refused when it is another request, also while the first runs or after it', async () => {
    await once();
    const other = { ...ASKED, fingerprint: 'other' };
    await expect(once(requests, other)).rejects.toMatchObject({ code: 'request.idempotency_mismatch' });
    expect(await once(requests, { ...ASKED, userId: 'u_2' })).toEqual({ answer: 2 });
    expect(await once(requests, { ...ASKED, id: 'other' })).toEqual({ answer: 3 });
  });

  it('has one id for its repeats, also when its process dies before its answer, until a new request may have the key', async () => {
    const first = await requests.repeatId(ASKED);
    expect(await process().repeatId(ASKED)).toBe(first);
    expect(await requests.repeatId({ ...ASKED, fingerprint: 'other' })).not.toBe(first);
    expect(await requests.repeatId({ ...ASKED, userId: 'u_2' })).not.toBe(first);
    now += KEPT_MS;
    expect(await requests.repeatId(ASKED)).not.toBe(first);
  });

  it('runs again after it failed', async () => {
    const failing = async (): Promise<number> => {
      throw new Error('no');
    };
    await expect(once(requests, ASKED, failing)).rejects.toThrow('no');
    expect(await once()).toEqual({ answer: 1 });
  });

  it('does not run again when its change was made but is not readable yet', async () => {
    const late = async (): Promise<number> => {
      throw new DomainError('request.not_caught_up', 'later');
    };
    await expect(once(requests, ASKED, late)).rejects.toMatchObject({ code: 'request.not_caught_up' });
    await expect(once()).rejects.toMatchObject({ code: 'request.reply_not_kept' });
    expect(runs).toBe(0);
  });

  it('keeps that it was carried out when its reply is too large or no JSON', async () => {
    const large = await requests.once(ASKED, run, () => ({ status: 200, body: 'x'.repeat(200_000) }));
    expect(large).toEqual({ answer: 1 });
    await expect(once()).rejects.toMatchObject({ code: 'request.reply_not_kept' });
    const other = { ...ASKED, id: 'other' };
    await requests.once(other, run, () => null);
    await expect(once(requests, other)).rejects.toMatchObject({ code: 'request.reply_not_kept' });
  });

  it('answers all the same when its reply cannot be kept, and says so', async () => {
    records.failSet = new Error('disk full');
    expect(await once()).toEqual({ answer: 1 });
    expect(lost).toEqual([records.failSet]);
  });

  // docs/reference/rest-api.md#idempotency-key
  it('of a process that died runs again after a minute, and before that is told to run', async () => {
    const dies = process();
    void once(dies, ASKED, () => new Promise<number>(() => undefined));
    await new Promise((resolve) => setImmediate(resolve));
    now += 59_000;
    await expect(once()).rejects.toMatchObject({ code: 'request.in_progress' });
    now += 2_000;
    expect(await once()).toEqual({ answer: 1 });
  });

  it('of a process that died at its first write runs again after a minute', async () => {
    const dying = process();
    const write = jest.spyOn(records, 'incr');
    const dies = async (...args: Parameters<typeof records.incr>): Promise<number> => {
      write.mockRestore();
      await records.incr(...args);
      return new Promise<number>(() => undefined);
    };
    write.mockImplementation(dies);
    void once(dying);
    await new Promise((resolve) => setImmediate(resolve));
    await expect(once()).rejects.toMatchObject({ code: 'request.in_progress' });
    now += 61_000;
    expect(await once()).toEqual({ answer: 1 });
  });

  it('leaves no claim behind', async () => {
    await once();
    expect([...records.records.keys()]).toEqual(['idempotency:u_1/kept:id']);
  });
});
