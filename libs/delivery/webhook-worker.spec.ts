import { describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { Agent } from 'undici';
import { FRESH } from '#libs/kernel/testing/fresh-tables.js';
import { createEgress } from '#libs/egress/guarded-dispatcher.js';
import { startSink } from './testing/http-sink.js';
import {
  answerOk,
  answerWith,
  FAST_RETRIES,
  harnessForEach,
  idsAt,
  KEY,
  until,
  type Attempt,
} from './testing/worker-harness.js';

describe('startWebhookWorker: outcomes', () => {
  const harness = harnessForEach();

  it('posts the exact body with both signatures, records the attempt, then acknowledges', async () => {
    const h = harness();
    const receiver = await h.sink(answerOk);
    await h.webhook('wh_a', receiver.url);
    await h.start();
    await h.deliver('wh_a', 1);
    await until(() => h.lag('wh_a') === 0);

    const [request] = receiver.received;
    const headers = request!.headers;
    const seconds = String(headers['webhook-timestamp']);
    const standard = createHmac('sha256', Buffer.alloc(24, 7)).update(`dlv_wh_a_1.${seconds}.${request!.body}`);
    const compat = createHmac('sha256', KEY).update(`${seconds}.${request!.body}`);
    expect(request).toMatchObject({ body: '{"n":1,"text":"ü"}', url: '/hook?a=1' });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Sluice-Webhooks/1',
      'content-length': '19',
      'webhook-id': 'dlv_wh_a_1',
      'webhook-signature': `v1,${standard.digest('base64')}`,
      'x-pd-signature': `t=${seconds},v1=${compat.digest('hex')}`,
      'x-pd-timestamp': new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z'),
      'x-pd-emitter-id': 'dc_1',
      'x-pd-emit-id': 'emit1',
      'x-pd-event-name': '',
      'x-pd-webhook-id': 'wh_a',
      'x-pd-attempt': '1',
    });
    expect(h.attempts()).toEqual([
      expect.objectContaining({ status: 200, error: null, nextAttemptAt: null, responseSnippet: 'ok' }),
    ]);
    expect(h.log.recordsOf('attempts')[0]).toMatchObject({
      key: 'wh_a',
      headers: {
        id: 'dlv_wh_a_1/1',
        delivery: 'dlv_wh_a_1',
        webhook: 'wh_a',
        workspace: 'o_1',
        emitter: 'dc_1',
        emit: 'emit1',
        event: '1-1',
        channel: '',
        attempt: '1',
        outcome: 'success',
      },
    });
  });

  it('retries until it succeeds, with the same ids, from the due store', async () => {
    const h = harness();
    const receiver = await h.sink((_, res, count) => void res.writeHead(count < 3 ? 503 : 200).end());
    await h.webhook('wh_a', receiver.url);
    await h.start();
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(3);
    expect(idsAt(receiver)).toEqual(['dlv_wh_a_1', 'dlv_wh_a_1', 'dlv_wh_a_1']);
    expect(receiver.received.map(({ headers }) => headers['x-pd-emit-id'])).toEqual(['emit1', 'emit1', 'emit1']);
    expect(receiver.received.map(({ headers }) => headers['x-pd-attempt'])).toEqual(['1', '2', '3']);
    expect(h.attempts().map(({ headers, error }) => [headers.outcome, headers.attempt, error])).toEqual([
      ['retry', '1', 'status 503'],
      ['retry', '2', 'status 503'],
      ['success', '3', null],
    ]);
    expect(h.attempts()[0]!.nextAttemptAt).toBeGreaterThan(0);
    await until(() => h.due.entries.size === 0 && h.lag('wh_a') === 0);
  });

  it('ends after the last attempt, and at once with maxAttempts 1', async () => {
    const h = harness();
    const receiver = await h.sink(answerWith(500));
    await h.webhook('wh_a', receiver.url, { maxAttempts: 2 });
    await h.webhook('wh_b', receiver.url, { maxAttempts: 1 });
    await h.start();
    await h.deliver('wh_a', 1);
    await h.deliver('wh_b', 1);
    await h.attemptsRecorded(3);
    const last = h.attempts().filter(({ headers }) => headers.outcome === 'final');
    expect(last.map(({ headers, error }) => [headers.webhook, error]).sort()).toEqual([
      ['wh_a', 'status 500, attempt 2 was the last'],
      ['wh_b', 'status 500, attempt 1 was the last'],
    ]);
    await until(() => h.due.entries.size === 0);
  });

  it.each([
    [302, 'status 302: redirects are not followed'],
    [400, 'status 400 is not retried'],
    [404, 'status 404 is not retried'],
  ])('takes %i as final', async (code, error) => {
    const h = harness();
    const receiver = await h.sink((_, res) => void res.writeHead(code, { location: '/elsewhere' }).end());
    await h.webhook('wh_a', receiver.url);
    await h.start();
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    expect(h.attempts()).toEqual([expect.objectContaining({ status: code, error })]);
    expect(receiver.received).toHaveLength(1);
    expect(h.due.entries.size).toBe(0);
  });

  // docs/reference/rest-api.md#webhook-disabled
  it('disables on 410, reported once', async () => {
    const h = harness();
    const receiver = await h.sink(answerWith(410));
    await h.webhook('wh_a', receiver.url);
    await h.start();
    await h.deliver('wh_a', 3);
    await h.attemptsRecorded(3);
    expect(h.disabled).toEqual(['wh_a']);
    expect(h.attempts().every(({ headers }) => headers.outcome === 'final')).toBe(true);
  });

  it('reports a 410 again when disabling failed', async () => {
    const h = harness();
    const receiver = await h.sink(answerWith(410));
    await h.webhook('wh_a', receiver.url);
    let calls = 0;
    await h.start({}, { onDisable: () => (++calls === 1 ? Promise.reject(new Error('busy')) : undefined) });
    await h.deliver('wh_a', 1);
    await until(() => h.errors.length === 1);
    await h.deliver('wh_a', 1, 2);
    await until(() => calls === 2);
  });

  it('honours Retry-After of a 429', async () => {
    const h = harness();
    const receiver = await h.sink((_, res) => void res.writeHead(429, { 'retry-after': '30' }).end());
    await h.webhook('wh_a', receiver.url);
    await h.start();
    const before = Date.now();
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    const [entry] = [...h.due.entries.values()];
    expect(entry).toMatchObject({
      owner: 'wh_a',
      record: { key: 'wh_a', headers: { attempt: '2', id: 'dlv_wh_a_1' } },
    });
    expect(entry!.dueAt).toBeGreaterThanOrEqual(before + 30_000);
    expect(h.attempts()[0]!.nextAttemptAt).toBe(entry!.dueAt);
  });

  it('ends a request without an answer in time, and retries it', async () => {
    const h = harness();
    const receiver = await h.sink(() => undefined);
    await h.webhook('wh_a', receiver.url, { timeoutMs: 50 });
    await h.start({ retries: { ...FAST_RETRIES, delaysMs: [60_000] } });
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    expect(h.attempts()[0]).toMatchObject({ status: null, error: 'TIMEOUT', headers: { outcome: 'retry' } });
  });

  it('takes the status when the body never ends', async () => {
    const h = harness();
    const receiver = await h.sink((_, res) => void res.writeHead(200).write('so far'));
    await h.webhook('wh_a', receiver.url, { timeoutMs: 50 });
    await h.start();
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    expect(h.attempts()[0]).toMatchObject({ status: 200, error: null, responseSnippet: 'so far' });
  });

  it('keeps the start of a large answer and reads no more than the limit', async () => {
    const h = harness();
    let sent = 0;
    const receiver = await h.sink((_, res) => {
      const more = (): void => {
        while (sent < 64 * 1024 * 1024 && !res.destroyed) {
          sent += 65_536;
          if (!res.write('x'.repeat(65_536))) return void res.once('drain', more);
        }
        res.end();
      };
      more();
    });
    await h.webhook('wh_a', receiver.url, { timeoutMs: 20_000 });
    await h.start();
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    expect(h.attempts()[0]).toMatchObject({ status: 200, responseSnippet: 'x'.repeat(2048) });
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it('retries a refused connection and failed TLS', async () => {
    const h = harness();
    const gone = await startSink(answerOk);
    await gone.close();
    await h.webhook('wh_gone', gone.url);
    const tls = await h.sink(answerOk);
    await h.webhook('wh_tls', tls.url.replace('http:', 'https:'));
    await h.start({ retries: { ...FAST_RETRIES, delaysMs: [60_000] } });
    await h.deliver('wh_gone', 1);
    await h.deliver('wh_tls', 1);
    await h.attemptsRecorded(2);
    const errorOf = (id: string): string => h.attempts().find(({ headers }) => headers.webhook === id)!.error!;
    expect(errorOf('wh_gone')).toContain('ECONNREFUSED');
    expect(errorOf('wh_tls')).toMatch(/SSL|TLS|EPROTO/);
    expect(h.attempts().map(({ headers }) => headers.outcome)).toEqual(['retry', 'retry']);
    expect(tls.received).toEqual([]);
  });

  it('through the egress guard: a private address is final, a name that does not resolve is retried', async () => {
    const h = harness();
    const receiver = await h.sink(answerOk);
    await h.webhook('wh_private', receiver.url);
    await h.webhook('wh_dns', 'http://nowhere.example/hook');
    const resolver = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    const egress = createEgress({ allow: [], resolver });
    await h.start({ retries: { ...FAST_RETRIES, delaysMs: [60_000] } }, { dispatcher: egress.dispatcher });
    await h.deliver('wh_private', 1);
    await h.deliver('wh_dns', 1);
    await h.attemptsRecorded(2);
    await egress.close();
    const of = (id: string): Attempt => h.attempts().find(({ headers }) => headers.webhook === id)!;
    expect(of('wh_private')).toMatchObject({ status: null, headers: { outcome: 'final' } });
    expect(of('wh_private').error).toMatch(/^EGRESS_REFUSED: .*: an address that is not allowed.*SLUICE_EGRESS_ALLOW/);
    expect(of('wh_dns')).toMatchObject({ error: 'ENOTFOUND: no such name', headers: { outcome: 'retry' } });
    expect(receiver.received).toEqual([]);
  });

  // docs/reference/rest-api.md#webhook-active
  it('drops deliveries to an inactive webhook, and to one that the whole event log does not know', async () => {
    const h = harness();
    const receiver = await h.sink(answerOk);
    await h.webhook('wh_off', receiver.url, { active: false });
    await h.webhook('wh_late', receiver.url);
    const late = h.targets.get('wh_late')!;
    h.targets.delete('wh_late');
    await h.log.createTopic('deliveries.wh_none');
    // The directory is behind the log until it is asked to follow it.
    const holdAll = async (): Promise<boolean> => {
      h.targets.set('wh_late', late);
      return true;
    };
    await h.start({}, { tables: { ...FRESH, holdAll } });
    await h.deliver('wh_late', 1);
    await h.deliver('wh_off', 1);
    await h.deliver('wh_none', 1);
    await h.attemptsRecorded(2);
    await until(() => ['wh_off', 'wh_none', 'wh_late'].every((id) => h.lag(id) === 0));
    const rows = h.attempts().map(({ headers, error }) => [headers.webhook, headers.outcome, headers.attempt, error]);
    expect(rows.sort()).toEqual([
      ['wh_late', 'success', '1', null],
      ['wh_none', 'final', '1', 'unknown webhook'],
    ]);
  });

  it('waits until the directory may decide, and then sends to a webhook that was switched on again', async () => {
    const h = harness();
    const receiver = await h.sink(answerOk);
    await h.webhook('wh_a', receiver.url, { active: false });
    let caughtUp: () => void = () => undefined;
    const catchingUp = new Promise<void>((resolve) => (caughtUp = resolve));
    const holdAnswered = async (): Promise<boolean> => {
      await catchingUp;
      return true;
    };
    await h.start({}, { tables: { ...FRESH, holdAnswered } });
    await h.deliver('wh_a', 1);
    await h.webhook('wh_a', receiver.url);
    caughtUp();
    await h.attemptsRecorded(1);
    expect(h.attempts().map(({ error }) => error)).toEqual([null]);
  });

  it('signs with both keys during a rotation, and with the new ones when the target changes', async () => {
    const h = harness();
    const receiver = await h.sink(answerOk);
    const newer = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
    await h.webhook('wh_a', receiver.url);
    await h.start();
    await h.deliver('wh_a', 1);
    await h.attemptsRecorded(1);
    h.targets.set('wh_a', { ...h.targets.get('wh_a')!, signingKeys: () => Promise.resolve([newer, KEY]) });
    await h.deliver('wh_a', 1, 2);
    await h.attemptsRecorded(2);
    const [before, after] = receiver.received.map(({ headers }) => String(headers['webhook-signature']).split(' '));
    expect(before).toHaveLength(1);
    expect(after).toHaveLength(2);
    const { headers, body } = receiver.received[1]!;
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const by = (byte: number): string =>
      `v1,${createHmac('sha256', Buffer.alloc(24, byte)).update(signed).digest('base64')}`;
    expect(after).toEqual([by(9), by(7)]);
  });

  it('puts a delivery off without using up an attempt when the keys cannot be read', async () => {
    const h = harness();
    const receiver = await h.sink(answerOk);
    await h.webhook('wh_a', receiver.url, { signingKeys: () => Promise.reject(new Error('vault is closed')) });
    await h.start();
    await h.deliver('wh_a', 1);
    await until(() => h.due.entries.size === 1 && h.lag('wh_a') === 0);
    expect([...h.due.entries.values()][0]!.record.headers).toMatchObject({ attempt: '1', defers: '1' });
    expect(h.errors.join()).toContain('signing keys cannot be read');
    expect(h.errors.join()).not.toContain('whsec_');
    expect(h.attempts()).toEqual([]);
  });

  it('sends any channel name as a header', async () => {
    const h = harness();
    const receiver = await h.sink(answerOk);
    await h.webhook('wh_a', receiver.url);
    await h.start();
    const record = h.delivery('wh_a', 1);
    await h.log.publish([{ ...record, headers: { ...record.headers, channel: 'größe\r\nx-evil: 1' } }]);
    await h.attemptsRecorded(1);
    expect(receiver.received[0]!.headers['x-pd-event-name']).toBe('gr%C3%B6%C3%9Fe%0D%0Ax-evil%3A%201');
  });

  it('sends an unpaired surrogate in a channel name, which encoders refuse, and the delivery after it', async () => {
    const channel = 'a\ud800';
    expect(() => encodeURIComponent(channel)).toThrow(URIError);
    const h = harness();
    const receiver = await h.sink(answerOk);
    await h.webhook('wh_a', receiver.url);
    await h.start();
    const record = h.delivery('wh_a', 1);
    await h.log.publish([{ ...record, headers: { ...record.headers, channel } }, h.delivery('wh_a', 2)]);
    await h.attemptsRecorded(2);
    expect(receiver.received.map(({ headers }) => headers['x-pd-event-name'])).toEqual(['a%EF%BF%BD', '']);
  });

  it('records and retries a request that cannot be sent, and sends the next one', async () => {
    const h = harness();
    const receiver = await h.sink(answerOk);
    await h.webhook('wh_a', receiver.url);
    const breaker = { failuresInRow: 1, failureRate: 1, minSamples: 1, openMs: 60_000, maxOpenMs: 60_000, jitter: 0 };
    await h.start({ breaker });
    const record = h.delivery('wh_a', 1);
    await h.log.publish([{ ...record, headers: { ...record.headers, emitter: 'dc_\u0001' } }, h.delivery('wh_a', 2)]);
    await h.attemptsRecorded(5);
    await until(() => h.lag('wh_a') === 0);
    const failed = h.attempts().filter(({ headers }) => headers['delivery'] === 'dlv_wh_a_1');
    expect(failed.map(({ headers: { outcome } }) => outcome)).toEqual(['retry', 'retry', 'retry', 'final']);
    expect(failed[0]).toMatchObject({ status: null, error: expect.stringMatching(/^NOT_SENT: /) });
    // The failure does not concern the endpoint, so the breaker stays closed.
    expect(idsAt(receiver)).toEqual(['dlv_wh_a_2']);
  });

  it('records any exception of the HTTP client as a failed attempt', async () => {
    const h = harness();
    await h.webhook('wh_a', 'http://127.0.0.1:1');
    const dispatcher = new Agent();
    dispatcher.dispatch = () => {
      throw new Error('out of sockets');
    };
    const worker = await h.start({ retries: { ...FAST_RETRIES, delaysMs: [] } }, { dispatcher });
    await h.deliver('wh_a', 3);
    await h.attemptsRecorded(3);
    await until(() => h.lag('wh_a') === 0);
    expect(h.attempts()[0]).toMatchObject({ error: 'NOT_SENT: out of sockets' });
    expect(worker.inFlight()).toBe(0);
  });
});
