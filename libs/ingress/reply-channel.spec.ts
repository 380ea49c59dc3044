import { describe, expect, it } from '@jest/globals';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { drained } from '#libs/stream-log/testing/drained.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { manualRuns } from './manual-runs.js';
import { openReplyChannel } from './reply-channel.js';
import { repliesOverLog } from './replies-over-log.js';
import { ResponseRelay } from './response-relay.js';

const reply: HttpReply = { status: 201, headers: { 'x-a': 'b' }, body: 'made', base64: false };
const outcome: RunOutcome = {
  status: 'threw',
  error: { name: 'Error', message: 'boom', stack: 's', code: 'Error' },
  emits: [{ payload: '"large"', channel: '' }],
  logs: [{ k: 'console.log', ts: 1, msg: 'hi' }],
  dbChanges: { key: '"large"' },
  told: [{ channel: '', payload: '1', summary: null, dropped: null }],
  response: reply,
  startedAt: 1,
  endedAt: 2,
};
const PATIENCE_MS = 60_000;

const setUp = async () => {
  const log = new InMemoryStreamLog();
  const logged: string[] = [];
  const logger = {
    error: (_: object, message: string) => void logged.push(message),
    warn: (_: object, message: string) => void logged.push(message),
  };
  const channel = await openReplyChannel({ log, processId: 'p1', logger });
  return { log, logged, logger, channel, relay: channel.relay, replies: repliesOverLog(log, logger) };
};

const published = async (log: InMemoryStreamLog): Promise<void> => {
  while (log.published.length === 0) await new Promise((resolve) => setImmediate(resolve));
};

describe('answers over the log', () => {
  it('carry the reply of a run in another process to the caller of the endpoint, without the rest of the outcome', async () => {
    const { log, relay, replies, channel } = await setUp();
    const first = relay.expect('inv_1', PATIENCE_MS);
    const second = relay.expect('inv_2', PATIENCE_MS);
    replies.immediate(relay.address, 'inv_1', { ...reply, status: 202 });
    replies.ended(relay.address, 'inv_1', outcome, 'reply');
    replies.ended(relay.address, 'inv_2', outcome, 'reply');
    expect(await first).toEqual({ ...reply, status: 202 });
    expect(await second).toEqual(reply);
    expect(log.published).toHaveLength(1);
    expect(JSON.stringify(log.published)).not.toContain('large');
    await channel.close();
  });

  it('carry the outcome to the waiting caller, without its emits and db changes', async () => {
    const { relay, replies, channel } = await setUp();
    const ended = relay.expectOutcome('inv_1', PATIENCE_MS);
    replies.ended(relay.address, 'inv_1', outcome, 'outcome');
    const { response, ...rest } = outcome;
    expect(response).toBeDefined();
    expect(await ended).toEqual({ ...rest, emits: [], dbChanges: {} });
    await channel.close();
  });

  it('are awaited at the address in the invocation', async () => {
    const { log, relay, replies, channel } = await setUp();
    await log.createTopic('invocations.dc_1');
    const topics = { invocations: (id: string) => `invocations.${id}` };
    const consumed = { deliveries: String, runs: String, messages: String };
    const topicsOf = { ...consumed, emits: String, attempts: String, emails: () => undefined };
    const unused = { ...topicsOf, ownedBy: () => [], fixed: () => [], retentionOf: () => undefined };
    const runs = manualRuns({
      log,
      relay,
      topics: { ...topics, ...unused },
      timeoutMs: PATIENCE_MS,
      clock: { now: () => 1 },
      defaultEvent: () => '{}',
    });
    const result = runs.run('dc_1', 'o_1', { n: 1 }, true);
    await published(log);
    const { id = '', respond = '' } = log.recordsOf('invocations.dc_1')[0]?.headers ?? {};
    expect(respond).toBe('replies.p1');
    replies.ended(respond, id, outcome, 'outcome');
    expect((await result).observations).toHaveLength(2);
    expect((await result).ended).toBe(true);
    await channel.close();
  });

  it('are waited for within a time, after which a manual run is told from one that logged nothing', async () => {
    const { log, relay, channel } = await setUp();
    await log.createTopic('invocations.dc_1');
    const topics = { invocations: (id: string) => `invocations.${id}` };
    const consumed = { deliveries: String, runs: String, messages: String };
    const topicsOf = { ...consumed, emits: String, attempts: String, emails: () => undefined };
    const unused = { ...topicsOf, ownedBy: () => [], fixed: () => [], retentionOf: () => undefined };
    const runs = manualRuns({
      log,
      relay,
      topics: { ...topics, ...unused },
      timeoutMs: 10,
      clock: { now: () => 1 },
      defaultEvent: () => '{}',
    });
    expect(await runs.run('dc_1', 'o_1', {}, true)).toMatchObject({ ended: false, observations: [] });
    expect(await runs.run('dc_1', 'o_1', {}, false)).not.toHaveProperty('ended');
    await channel.close();
  });

  it('are dropped when no caller waits, or the waiting process has exited', async () => {
    const { log, logged, relay, replies, channel } = await setUp();
    const waiting = relay.expect('inv_1', PATIENCE_MS);
    replies.ended(relay.address, 'inv_unknown', outcome, 'reply');
    replies.ended('replies.dead', 'inv_1', outcome, 'reply');
    replies.ended('here', 'inv_1', outcome, 'reply');
    replies.ended(relay.address, 'inv_1', outcome, 'reply');
    expect(await waiting).toEqual(reply);
    expect(log.published[0]?.map(({ topic }) => topic)).toEqual(['replies.p1', 'replies.dead', 'replies.p1']);
    await channel.close();
    expect(logged).toEqual([]);
    expect(await log.topics('')).toEqual([]);
  });

  it('are logged when they cannot be written, and hold back no others', async () => {
    const { log, logged, relay, replies, channel } = await setUp();
    log.beforePublish = (records) => {
      if (records.some(({ headers }) => headers['invocation'] === 'inv_big')) throw new Error('too large');
    };
    const waiting = relay.expect('inv_1', PATIENCE_MS);
    replies.ended(relay.address, 'inv_big', outcome, 'reply');
    replies.ended(relay.address, 'inv_1', outcome, 'reply');
    expect(await waiting).toEqual(reply);
    expect(logged).toEqual([expect.stringContaining('reply.lost')]);
    await channel.close();
  });

  it('are dropped and acknowledged when they are unreadable', async () => {
    const { log, logged, channel } = await setUp();
    const headers = { invocation: 'inv_1', kind: 'reply' };
    await log.publish([
      { topic: 'replies.p1', key: 'k', headers, value: '{' },
      { topic: 'replies.p1', key: 'k', headers: {}, value: '{}' },
    ]);
    await drained({ backlog: () => log.uncommitted('replies.p1', 'replies.p1') });
    expect(logged).toHaveLength(2);
    await channel.close();
  });
});

describe('a relay in one process', () => {
  it('takes only answers addressed to it', async () => {
    const relay = new ResponseRelay();
    const waiting = relay.expect('inv_1', PATIENCE_MS);
    relay.ended('replies.p1', 'inv_1', { ...outcome, response: { ...reply, status: 500 } });
    relay.immediate('replies.p1', 'inv_1', { ...reply, status: 500 });
    relay.ended(relay.address, 'inv_1', outcome);
    expect((await waiting)?.status).toBe(201);
  });
});
