import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { FRESH } from '#libs/kernel/testing/fresh-tables.js';
import { type HttpMessage, messageRecord } from '#libs/stream-log/message-records.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type MessageWorker, startMessageWorker } from './message-worker.js';
import { type HttpSink, startSink } from './testing/http-sink.js';
import { answerOk, answerWith, until } from './testing/worker-harness.js';

const TOPICS = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });

let log: InMemoryStreamLog;
let agent: Agent;
let closes: (() => Promise<unknown>)[];
let said: string[];

beforeEach(async () => {
  [log, agent, closes, said] = [new InMemoryStreamLog(), new Agent(), [], []];
  for (const id of ['p_1', 'p_2']) await log.createTopic(TOPICS.messages(id));
});
afterEach(async () => {
  await Promise.all(closes.map((close) => close()));
  await agent.destroy();
});

const sink = async (...args: Parameters<typeof startSink>): Promise<HttpSink> => {
  const started = await startSink(...args);
  closes.unshift(() => started.close());
  return started;
};

const start = async (exists = (_: string): boolean => true): Promise<MessageWorker> => {
  const say = (fields: object, text: string): void =>
    void said.push(`${text} ${String((fields as { message?: unknown }).message)}`);
  const worker = await startMessageWorker({
    log,
    exists,
    tables: FRESH,
    dispatcher: agent,
    clock: { now: () => Date.now() },
    logger: { info: say, warn: say, error: say },
  });
  closes.push(() => worker.close());
  return worker;
};

const send = (workflowId: string, n: number, message: Partial<HttpMessage> & Pick<HttpMessage, 'url'>) =>
  log.publish(
    messageRecord(
      TOPICS,
      { id: `snd_${n}`, workflowId, workspaceId: 'o_1', runId: 'run_1' },
      { kind: 'http', method: 'POST', headers: {}, body: null, ...message },
    ),
  );

const left = (workflowId: string): number => log.uncommitted('message-worker', TOPICS.messages(workflowId));

describe('messages of a workflow', () => {
  it('are sent as the step made them, with their id, which it cannot choose', async () => {
    const { url, received } = await sink(answerOk);
    await start();
    const headers = { 'x-a': 'b', 'content-type': 'text/plain', 'x-pd-send-id': 'mine' };
    await send('p_1', 1, { method: 'PUT', url: `${url}&b=ü`, headers, body: 'größe' });
    await until(() => left('p_1') === 0);
    expect(received).toMatchObject([
      { url: '/hook?a=1&b=%C3%BC', body: 'größe', headers: { 'x-a': 'b', 'x-pd-send-id': 'snd_1' } },
    ]);
    expect(said).toEqual(['message.sent snd_1']);
  });

  it.each([302, 404, 503])('fail with status %i, and are sent once', async (status) => {
    const { url, received } = await sink(answerWith(status));
    await start();
    await send('p_1', 1, { url });
    await until(() => left('p_1') === 0);
    expect([received.length, said]).toEqual([1, ['message.failed snd_1']]);
  });

  it('go on after one that cannot be sent or read', async () => {
    const { url, received } = await sink(answerOk);
    await start();
    await send('p_1', 1, { url: 'no address' });
    await log.publish([{ topic: TOPICS.messages('p_1'), key: 'p_1', headers: {}, value: '{' }]);
    await send('p_1', 2, { url, headers: { expect: 'nothing' } });
    await send('p_1', 3, { url });
    await until(() => left('p_1') === 0);
    expect(received.map(({ headers }) => headers['x-pd-send-id'])).toEqual(['snd_3']);
    expect([...said].sort()).toEqual([
      'message.failed snd_2',
      'message.sent snd_3',
      'message.unreadable undefined',
      'message.unreadable undefined',
    ]);
  });

  it('wait for no other workflow, and have a bound on how many are sent at once', async () => {
    const slow = await sink(() => undefined);
    const { url, received } = await sink(answerOk);
    await start();
    for (let n = 0; n < 20; n++) await send('p_1', n, { url: slow.url });
    await slow.got(16);
    await send('p_2', 1, { url });
    await until(() => left('p_2') === 0);
    expect([received.length, slow.received.length, left('p_1')]).toEqual([1, 16, 20]);
  });

  it('of a deleted workflow are dropped', async () => {
    const { url, received } = await sink(answerOk);
    await start((id) => id === 'p_2');
    await send('p_1', 1, { url });
    await send('p_2', 2, { url });
    await until(() => left('p_1') + left('p_2') === 0);
    expect(received.map(({ headers }) => headers['x-pd-send-id'])).toEqual(['snd_2']);
  });

  it('whose process dies before it acknowledges them go out again under the same id', async () => {
    let isDead = true;
    const { url, received } = await sink((_, response) => void (isDead || response.end()));
    await start();
    await send('p_1', 1, { url });
    await until(() => received.length === 1);
    log.crash();
    isDead = false;
    await start();
    await until(() => left('p_1') === 0);
    expect(received.map(({ headers }) => headers['x-pd-send-id'])).toEqual(['snd_1', 'snd_1']);
  });
});
