import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { FRESH } from '#libs/kernel/testing/fresh-tables.js';
import { DuePump } from '#libs/due/due-pump.js';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';
import { type HttpMessage, type SendOutcome, messageRecord, readOutcome } from '#libs/stream-log/message-records.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type EmailPorts, type EmailRefusal, type OutgoingEmail } from './message-email.js';
import { type MessageWorker, type MessageWorkerOptions, startMessageWorker } from './message-worker.js';
import { type HttpSink, startSink } from './testing/http-sink.js';
import { answerOk, answerWith, until } from './testing/worker-harness.js';

const TOPICS = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });

let log: InMemoryStreamLog;
let due: InMemoryDueStore;
let aheadMs: number;
let agent: Agent;
let closes: (() => Promise<unknown>)[];
let said: string[];

beforeEach(async () => {
  [log, due, agent, closes, said] = [new InMemoryStreamLog(), new InMemoryDueStore(), new Agent(), [], []];
  aheadMs = 0;
  for (const id of ['p_1', 'p_2'])
    for (const topic of [TOPICS.messages(id), TOPICS.runs(id)]) await log.createTopic(topic);
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

/** Real time and what a test adds to it, so that no test waits for a pause. */
const clock = { now: () => Date.now() + aheadMs };

const start = async (
  exists = (_: string): boolean => true,
  more: Partial<MessageWorkerOptions> = {},
): Promise<MessageWorker> => {
  const say = (fields: object, text: string): void =>
    void said.push(`${text} ${String((fields as { message?: unknown }).message)}`);
  const worker = await startMessageWorker({
    log,
    due,
    topics: TOPICS,
    random: () => 0.5,
    email: undefined,
    objects: undefined,
    ...more,
    exists,
    tables: FRESH,
    dispatcher: agent,
    clock,
    logger: { info: say, warn: say, error: say },
  });
  closes.push(() => worker.close());
  return worker;
};

const send = (workflowId: string, n: number, message: Partial<HttpMessage> & Pick<HttpMessage, 'url'>) =>
  log.publish(
    messageRecord(
      TOPICS,
      { id: `snd_${n}`, workflowId, workspaceId: 'o_1', runId: 'run_1', namespace: 'a', execution: 2, index: n },
      { kind: 'http', method: 'POST', headers: {}, body: null, retry: false, ...message },
    ),
  );

const sendEmail = (n: number) =>
  log.publish(
    messageRecord(
      TOPICS,
      { id: `snd_${n}`, workflowId: 'p_1', workspaceId: 'o_1', runId: 'run_1', namespace: 'a', execution: 2, index: n },
      { kind: 'email', subject: `s${n}`, text: 't', html: '<p>h</p>' },
    ),
  );

const sendObject = (n: number) =>
  log.publish(
    messageRecord(
      TOPICS,
      { id: `snd_${n}`, workflowId: 'p_1', workspaceId: 'o_1', runId: 'run_1', namespace: 'a', execution: 2, index: n },
      { kind: 's3', bucket: 'b', key: `a/${n}.json`, payload: `[${n}]` },
    ),
  );

/** A mail server that answers each email in turn, and then accepts all. */
const mailServer = (...answers: (EmailRefusal | undefined)[]) => {
  const mails: OutgoingEmail[] = [];
  const store = new Map<string, string>();
  const email: EmailPorts = {
    async send(mail) {
      mails.push(mail);
      return answers.shift();
    },
    recipientOf: async () => 'ann@example.com',
    notes: {
      get: async (_, key) => (store.has(key) ? { value: store.get(key) ?? '' } : undefined),
      set: async ({ key, value }) => void store.set(key, value),
      delete: async (_, key) => store.delete(key),
      size: async () => store.size,
    },
  };
  return { mails, store, email };
};

/** Publishes messages that are due, as the scheduler does. */
const pump = (): void => {
  const logger = { error: () => undefined };
  const started = new DuePump({ log, due, topics: TOPICS, clock, logger, pollMs: 5 }).start();
  closes.unshift(() => started.close());
};

const outcomesOf = (workflowId: string): (readonly [id: string, ...unknown[]])[] =>
  log
    .recordsOf(TOPICS.runs(workflowId))
    .map((record) => readOutcome(record) as SendOutcome)
    .map(({ id, state, attempts, status, error }) => [id, state, attempts, status, error]);

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
    const place = { runId: 'run_1', workflowId: 'p_1', workspaceId: 'o_1', namespace: 'a', execution: 2, index: 1 };
    const outcome = { ...place, id: 'snd_1', state: 'sent', attempts: 1, status: 200, error: null };
    expect(log.recordsOf(TOPICS.runs('p_1')).map((record) => readOutcome(record))).toEqual([outcome]);
  });

  it.each([302, 404, 503])('fail with status %i, and are sent once', async (status) => {
    const { url, received } = await sink(answerWith(status));
    await start();
    await send('p_1', 1, { url });
    await until(() => left('p_1') === 0);
    expect([received.length, said]).toEqual([1, ['message.failed snd_1']]);
    expect(outcomesOf('p_1')).toEqual([['snd_1', 'failed', 1, status, `status ${status}`]]);
  });

  it('go on after one that cannot be sent or read', async () => {
    const { url, received } = await sink(answerOk);
    await start();
    await send('p_1', 1, { url: 'no address', retry: true });
    await log.publish([{ topic: TOPICS.messages('p_1'), key: 'p_1', headers: {}, value: '{' }]);
    await send('p_1', 2, { url, headers: { expect: 'nothing' } });
    await send('p_1', 3, { url });
    await until(() => left('p_1') === 0);
    expect(received.map(({ headers }) => headers['x-pd-send-id'])).toEqual(['snd_3']);
    expect([...said].sort()).toEqual([
      'message.failed snd_1',
      'message.failed snd_2',
      'message.sent snd_3',
      'message.unreadable undefined',
    ]);
    expect(outcomesOf('p_1')).toHaveLength(3);
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

  // docs/reference/workflows.md#send-retry
  it('with retry go out again as deliveries of webhooks do, under one id, until one is sent', async () => {
    let status = 503;
    const { url, received } = await sink((_, response) => void response.writeHead(status).end());
    await start();
    pump();
    await send('p_1', 1, { url, body: 'b', retry: true });
    await until(() => outcomesOf('p_1').length === 1);
    expect(await due.nextDueAt()).toBeGreaterThan(clock.now() + 1_000);
    aheadMs += 5_000;
    await until(() => outcomesOf('p_1').length === 2);
    status = 200;
    aheadMs += 300_000;
    await until(() => outcomesOf('p_1').length === 3);
    expect(outcomesOf('p_1')).toEqual([
      ['snd_1', 'queued', 1, 503, 'status 503'],
      ['snd_1', 'queued', 2, 503, 'status 503'],
      ['snd_1', 'sent', 3, 200, null],
    ]);
    expect(received.map(({ headers, body }) => [headers['x-pd-send-id'], body])).toEqual(
      Array.from({ length: 3 }, () => ['snd_1', 'b']),
    );
    await until(() => left('p_1') === 0);
    expect(await due.nextDueAt()).toBeUndefined();
  });

  it('with retry fail once their attempts are used up, and at once with a status that no retry changes', async () => {
    const { url } = await sink(answerWith(503));
    const gone = await sink(answerWith(404));
    await start();
    pump();
    await send('p_1', 1, { url, retry: true });
    await send('p_2', 1, { url: gone.url, retry: true });
    for (let attempts = 1; attempts <= 10; attempts++) {
      await until(() => outcomesOf('p_1').length === attempts);
      aheadMs += 86_400_000;
    }
    expect(outcomesOf('p_1').at(-1)).toEqual(['snd_1', 'failed', 10, 503, 'status 503']);
    await until(() => left('p_2') === 0);
    expect(outcomesOf('p_2')).toEqual([['snd_1', 'failed', 1, 404, 'status 404']]);
    expect(await due.nextDueAt()).toBeUndefined();
  });

  it('whose process dies between the request and its outcome go out again, and have one outcome', async () => {
    const { url, received } = await sink(answerOk);
    log.hang(TOPICS.runs('p_1'));
    await start();
    await send('p_1', 1, { url });
    await until(() => said.length === 1);
    expect([received.length, left('p_1')]).toEqual([1, 1]);
    log.crash();
    log.recover(TOPICS.runs('p_1'));
    await start();
    await until(() => left('p_1') === 0);
    expect(received).toHaveLength(2);
    expect(new Set(outcomesOf('p_1').map((outcome) => JSON.stringify(outcome))).size).toBe(1);
  });
});

// docs/reference/workflows.md#send-email
describe('emails of a workflow', () => {
  it('go to the creator, are tried again until the mail server accepts them, and count once', async () => {
    const { mails, store, email } = mailServer({ reason: 'busy', isFinal: false });
    await start(undefined, { email });
    pump();
    await sendEmail(1);
    await until(() => outcomesOf('p_1').length === 1);
    aheadMs += 10_000;
    await until(() => outcomesOf('p_1').length === 2);
    expect(outcomesOf('p_1')).toEqual([
      ['snd_1', 'queued', 1, null, 'busy'],
      ['snd_1', 'sent', 2, null, null],
    ]);
    const mail = { to: 'ann@example.com', subject: 's1', text: 't', html: '<p>h</p>', id: 'snd_1' };
    expect([mails, store.size]).toEqual([[mail, mail], 1]);
  });

  it('fail without a mail server, a member to send to, or a place in the day, and when they are refused', async () => {
    const { mails, store, email } = mailServer({ reason: 'no such mailbox', isFinal: true });
    const workers: Partial<MessageWorkerOptions>[] = [
      { email: undefined },
      { email: { ...email, recipientOf: async () => undefined } },
      { email },
      { email },
    ];
    for (const [n, more] of workers.entries()) {
      if (n === 3) for (let k = 0; k < 100; k++) store.set(`k${k}`, '"counted"');
      const worker = await start(undefined, more);
      await sendEmail(n);
      await until(() => outcomesOf('p_1').length === n + 1 && left('p_1') === 0);
      await worker.close();
    }
    expect(outcomesOf('p_1').map(([, state, attempts, , error]) => [state, attempts, error])).toEqual([
      ['failed', 1, 'this server has no mail server'],
      ['failed', 1, 'the creator of the workflow is no longer a member of the workspace'],
      ['failed', 1, 'no such mailbox'],
      ['failed', 1, 'the workflow has sent 100 emails in 24 hours, which is the limit'],
    ]);
    expect(mails).toHaveLength(1);
  });

  it('wait while their counter cannot be reached', async () => {
    const { email } = mailServer();
    let isDown = true;
    const recipientOf: EmailPorts['recipientOf'] = async (...of) => {
      if (isDown) throw new Error('no store');
      return email.recipientOf(...of);
    };
    await start(undefined, { email: { ...email, recipientOf } });
    await sendEmail(1);
    await until(() => said.length > 0);
    expect(outcomesOf('p_1')).toEqual([]);
    isDown = false;
    await until(() => left('p_1') === 0);
    expect(outcomesOf('p_1')).toEqual([['snd_1', 'sent', 1, null, null]]);
  });
});

// docs/reference/workflows.md#send-s3
describe('objects of a workflow', () => {
  it('are written again by the schedule, the same ones, until the storage takes them or says that it will not', async () => {
    const statuses = [503, 200, 403];
    const { url, received } = await sink((_, response) => void response.writeHead(statuses.shift() ?? 500).end());
    const key = { region: 'r', accessKeyId: 'a', secretAccessKey: 's' };
    const bucketOf = (bucket: string) => ({ bucket, endpoint: new URL(url).origin, ...key });
    const objects = { bucketOf, dispatcher: agent, logger: { warn: () => undefined } };
    await start(undefined, { objects });
    pump();
    await sendObject(1);
    await until(() => outcomesOf('p_1').length === 1);
    aheadMs += 10_000;
    await until(() => outcomesOf('p_1').length === 2);
    await sendObject(2);
    await until(() => left('p_1') === 0);
    expect(outcomesOf('p_1')).toEqual([
      ['snd_1', 'queued', 1, 503, 'status 503'],
      ['snd_1', 'sent', 2, 200, null],
      ['snd_2', 'failed', 1, 403, 'status 403'],
    ]);
    expect(received.map((request) => [request.url, request.body])).toEqual([
      ['/b/a/1.json', '[1]'],
      ['/b/a/1.json', '[1]'],
      ['/b/a/2.json', '[2]'],
    ]);
  });

  it('fail where the server opens no bucket', async () => {
    await start();
    await sendObject(1);
    await until(() => left('p_1') === 0);
    expect(outcomesOf('p_1')).toEqual([['snd_1', 'failed', 1, null, 'this server opens no bucket']]);
  });
});
