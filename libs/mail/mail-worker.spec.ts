import { afterEach, describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { eventually } from '#libs/engines/conformance/eventually.js';
import { type Mail, MailRefused } from './mailer.js';
import { MAILS_A_DAY, type MailNotes, type MailWorkerDependencies, startMailWorker } from './mail-worker.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const world = async () => {
  const log = new InMemoryStreamLog();
  await log.createTopic('emails', {});
  const kept = new Map<string, { value: string; expiresAt: number }>();
  const t = {
    now: Date.now(),
    sent: [] as Mail[],
    outcomes: [] as string[],
    scheduled: [] as { dueAt: number; record: { headers: Readonly<Record<string, string>> } }[],
    failure: undefined as Error | undefined,
    isOn: true,
    /** Number of look-ups of a recipient. */
    asked: 0,
  };
  const notes: MailNotes = {
    get: async (store, key, now) => {
      const found = kept.get(`${store}/${key}`);
      return found && found.expiresAt > now ? found : undefined;
    },
    set: async ({ storeId, key, value, expiresAt }) => void kept.set(`${storeId}/${key}`, { value, expiresAt }),
  };
  const deps: MailWorkerDependencies = {
    log,
    mailer: {
      send: async (mail) => {
        if (t.failure) throw t.failure;
        t.sent.push(mail);
      },
      close: () => undefined,
    },
    notes,
    due: { put: async (entries) => void t.scheduled.push(...entries) },
    recipientOf: async () => {
      t.asked++;
      return t.isOn ? { email: 'ada@example.com', name: 'Orders' } : undefined;
    },
    publicUrl: 'http://127.0.0.1:3000',
    clock: { now: () => t.now },
    metrics: { email: (outcome) => void t.outcomes.push(outcome) },
    logger: { info: () => undefined, warn: () => undefined },
  };
  const start = async (): Promise<() => Promise<void>> => {
    const worker = await startMailWorker(deps);
    closing.push(() => worker.close());
    return () => worker.close();
  };
  let emits = 0;
  const fail = (message: string, source = 'dc_1') =>
    log.publish([
      {
        topic: 'emails',
        key: source,
        headers: { email: '1', emitter: source, workspace: 'o_1', emit: `e${++emits}`, fault: message },
        value: JSON.stringify({ error: { name: 'Error', message } }),
      },
    ]);
  const outcomes = (count: number): Promise<unknown> =>
    eventually(`${count} outcomes`, async () => t.outcomes.length >= count);
  return { t, start, fail, outcomes };
};

describe('the mail worker', () => {
  it('sends one mail for each distinct error of a source in 24 hours, also after a restart', async () => {
    const { t, start, fail, outcomes } = await world();
    const stop = await start();
    for (const message of ['a', 'a', 'b', 'a']) await fail(message);
    await fail('a', 'dc_2');
    await outcomes(5);
    expect(t.sent.map(({ subject }) => subject)).toEqual(['Orders: Error: a', 'Orders: Error: b', 'Orders: Error: a']);
    await stop();
    await start();
    await fail('a');
    await outcomes(6);
    expect(t.outcomes.filter((outcome) => outcome === 'suppressed')).toHaveLength(3);
    t.now += 90_000_000;
    await fail('a');
    await outcomes(7);
    expect(t.sent).toHaveLength(3);
    expect(t.outcomes.at(-1)).toBe('failed');
  });

  it('sends a mail again a day later', async () => {
    const { t, start, fail, outcomes } = await world();
    t.now -= 86_400_001;
    await start();
    await fail('a');
    await outcomes(1);
    t.now += 86_400_001;
    await fail('a');
    await outcomes(2);
    expect(t.sent).toHaveLength(2);
  });

  it(`sends at most ${MAILS_A_DAY} mails a day about a source, and says so in the last`, async () => {
    const { t, start, fail, outcomes } = await world();
    await start();
    for (let n = 0; n < MAILS_A_DAY + 5; n++) await fail(`error ${n}`);
    await outcomes(MAILS_A_DAY + 5);
    expect(t.sent).toHaveLength(MAILS_A_DAY);
    expect(t.sent.filter(({ text }) => text.includes('No further error'))).toEqual([t.sent.at(-1)]);
  });

  it('sends nothing for a source whose mails are off', async () => {
    const { t, start, fail, outcomes } = await world();
    t.isOn = false;
    await fail('a');
    await fail('b', 'dc_2');
    await start();
    await eventually('both were looked at', () => t.asked === 2);
    t.isOn = true;
    await fail('c');
    await outcomes(1);
    expect(t.sent.at(-1)?.subject).toBe('Orders: Error: c');
  });

  it('keeps errors until the mail server can be used again, in order', async () => {
    const { t, start, fail, outcomes } = await world();
    t.failure = new Error('ECONNREFUSED');
    await start();
    await fail('a');
    await fail('b');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(t.outcomes).toEqual([]);
    t.failure = undefined;
    await outcomes(2);
    expect(t.sent.map(({ subject }) => subject)).toEqual(['Orders: Error: a', 'Orders: Error: b']);
  });

  it('tries again later what the mail server refuses for now, and gives up what it refuses for good', async () => {
    const { t, start, fail, outcomes } = await world();
    await start();
    t.failure = new MailRefused('450 busy', false);
    await fail('a');
    await outcomes(1);
    expect(t.scheduled).toMatchObject([{ dueAt: t.now + 60_000, record: { headers: { attempt: '1', emit: 'e1' } } }]);
    t.failure = new MailRefused('550 no such user', true);
    await fail('b');
    await outcomes(2);
    expect(t.outcomes).toEqual(['retried', 'failed']);
    t.failure = undefined;
    await fail('c');
    await outcomes(3);
    expect(t.sent).toHaveLength(1);
  });
});
