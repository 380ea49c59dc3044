import { describe, expect, it } from '@jest/globals';
import { type Attempt } from '#libs/stream-log/attempt-records.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type Delivery } from './delivery-records.js';
import { type AttemptResult } from './http-attempt.js';
import { LaneWork } from './lane-work.js';
import { DeliveryCounts } from './delivery-counts.js';
import { OutcomeRecorder, type Claimed } from './outcome-recorder.js';
import { type DeliveryOutcome } from './outcome-writer.js';
import { type AttemptOutcome } from './retry-policy.js';

const NOW = 1_700_000_000_500;
const target = { id: 'wh_1', url: 'http://a', workspaceId: 'o_1', active: true, timeoutMs: 1, signingKeys: () => [] };

const world = () => {
  const pushed: DeliveryOutcome<Attempt>[] = [];
  const acked: number[] = [];
  const metrics: unknown[] = [];
  const recorder = new OutcomeRecorder({
    topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
    settings: { retries: { delaysMs: [10], jitter: 0, maxRetryAfterMs: 60_000 } },
    clock: { now: () => NOW },
    random: () => 0,
    metrics: {
      onAttempt: (...args) => metrics.push(args),
      onDeferred: (count) => metrics.push(count),
      onDropped: () => metrics.push('dropped'),
      onFailed: (workspaceId) => metrics.push(['failed', workspaceId]),
    },
    outcomes: { push: (outcome) => void pushed.push(outcome) },
    order: { waits: () => undefined, ended: () => undefined },
    counts: new DeliveryCounts('proc_1'),
  });
  const work = new LaneWork();
  const claim = (attempt = 1): Claimed => {
    const of = { webhook: 'wh_1', workspace: 'o_1', emitter: 'dc_1', channel: '', emit: 'e', event: '1-1' };
    const headers = { id: 'dlv_1', ...of, attempt: String(attempt), at: '1' };
    const delivery: Delivery = { headers, body: '{}', attempt, defers: 0, at: 1 };
    const ack = (offset: number): void => void acked.push(offset);
    const batch = { lane: 'l', topic: 't', records: [], ack, revoked: () => false };
    void work.claim(delivery, () => acked.push(-1));
    return { batch, work, offset: 7, delivery };
  };
  return { pushed, acked, metrics, recorder, work, claim };
};

const result = (more: Partial<AttemptResult>): AttemptResult => ({
  status: null,
  error: null,
  message: '',
  retryAfter: undefined,
  snippet: '',
  ms: 12.4,
  ...more,
});
const ended = (outcome: AttemptOutcome, more: Partial<AttemptResult>) => ({
  target,
  result: result(more),
  outcome,
  startedAt: NOW - 12,
  endedAt: NOW,
});
const response = (status: number) => ended({ kind: 'response', status }, { status, snippet: 'ok' });

describe('OutcomeRecorder', () => {
  it('records a success, and acknowledges the delivery once that is durable', () => {
    const { recorder, claim, pushed, acked, metrics } = world();
    expect(recorder.attempted(claim(), response(200)).kind).toBe('success');
    const [outcome] = pushed;
    expect(outcome?.waiting).toBeUndefined();
    expect(outcome?.attempt).toEqual({
      topic: 'attempts',
      key: 'wh_1',
      delivery: 'dlv_1',
      attempt: 1,
      outcome: 'success',
      workspace: 'o_1',
      emitter: 'dc_1',
      channel: '',
      emit: 'e',
      event: '1-1',
      value: {
        ts: NOW - 12,
        ms: 12,
        status: 200,
        error: null,
        nextAttemptAt: null,
        responseSnippet: 'ok',
      },
      counts: { epoch: 'proc_1', text: expect.any(Function) },
    });
    expect([acked, metrics]).toEqual([[], [['success', 200, 12.4, 'o_1']]]);
    outcome?.durable();
    expect(acked).toEqual([7]);
  });

  it('schedules the next attempt after a failure, and none after the last', () => {
    const { recorder, claim, pushed } = world();
    expect(recorder.attempted(claim(), response(503)).kind).toBe('retry');
    expect(pushed[0]?.waiting).toMatchObject({ dueAt: NOW + 10, record: { headers: { attempt: '2' } } });
    expect(pushed[0]?.attempt?.value).toMatchObject({ error: 'status 503', nextAttemptAt: NOW + 10 });
    expect(recorder.attempted(claim(2), response(503)).kind).toBe('final');
    expect(pushed[1]?.waiting).toBeUndefined();
  });

  it('records the attempt that disables a webhook as final', () => {
    const { recorder, claim, pushed } = world();
    expect(recorder.attempted(claim(), response(410)).kind).toBe('disable');
    expect(pushed[0]?.attempt?.outcome).toBe('final');
  });

  it('names the error of an attempt without an answer', () => {
    const { recorder, claim, pushed } = world();
    const error = 'ECONNREFUSED';
    recorder.attempted(claim(), ended({ kind: 'error', error }, { error, message: 'connect' }));
    expect(pushed[0]?.attempt?.value).toMatchObject({ error: 'ECONNREFUSED: connect', status: null });
  });

  it('puts a delivery off without an attempt, and counts it', () => {
    const { recorder, claim, pushed, metrics } = world();
    recorder.putOff(claim(), NOW + 100);
    expect(pushed[0]?.attempt).toBeUndefined();
    expect(pushed[0]?.waiting).toMatchObject({ dueAt: NOW + 100, record: { headers: { attempt: '1', defers: '1' } } });
    expect(metrics).toEqual([1]);
  });

  it('records a dropped delivery as final, with the reason', () => {
    const { recorder, claim, pushed, metrics } = world();
    recorder.drop(claim(), 'unknown webhook');
    expect(pushed[0]?.attempt?.outcome).toBe('final');
    expect(pushed[0]?.attempt?.value).toMatchObject({ ts: NOW, ms: 0, status: null, error: 'unknown webhook' });
    expect(metrics).toEqual(['dropped', ['failed', 'o_1']]);
  });

  it('ends a skipped delivery without an attempt, and counts none', () => {
    const { recorder, claim, pushed, metrics, acked } = world();
    recorder.skip(claim());
    expect(pushed).toMatchObject([{ attempt: undefined, waiting: undefined }]);
    pushed[0]?.durable();
    expect(acked).toEqual([7]);
    expect(metrics).toEqual(['dropped']);
  });

  it('writes and acknowledges nothing once another worker owns the lane', async () => {
    const { recorder, claim, pushed, acked, work } = world();
    const claimed = claim();
    recorder.skip(claimed);
    const second = claim();
    await work.drain(0);
    recorder.skip(second);
    expect(pushed).toHaveLength(1);
    pushed[0]?.durable();
    expect(acked).not.toContain(7);
  });
});
