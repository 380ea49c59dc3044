import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type Paged, type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP, emitterCode, relayCode } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { always } from '#test/harness/webhook-receiver.js';

const instance = useInstance();
const { api, server } = instance;

describe('a restart on the same data', () => {
  /** Deployed first, because the shortest interval is 15 s. */
  let timed: Source;
  beforeAll(async () => {
    timed = await instance.deploy(
      componentCode({
        props: `timer: { type: '$.interface.timer', default: { intervalSeconds: 15 } }`,
        members: 'run(event) { this.$emit(event); },',
      }),
    );
    await instance.history(timed, 1);
  }, 60_000);

  it('keeps resources, the key, endpoints, db, dedupe and history, and runs no hook', async () => {
    const counting = await instance.deploy(
      componentCode({
        props: `${CUSTOM_HTTP}, db: '$.service.db'`,
        members: `
          hooks: { deploy() { this.db.set('hooks', 1); }, activate() { this.db.set('hooks', this.db.get('hooks') + 1); } },
          run() {
            this.db.set('runs', (this.db.get('runs') ?? 0) + 1);
            this.http.respond({ status: 200, body: [this.db.get('hooks'), this.db.get('runs')] });
          },`,
      }),
    );
    const deduped = await instance.deploy(emitterCode(`dedupe: 'unique',`));
    const webhook = await instance.listen(deduped.id);
    expect(jsonOf(await instance.post(counting))).toEqual([2, 1]);
    await instance.post(deduped, [['a', { id: 1 }]]);
    await instance.history(deduped, 1);
    const paths = ['/v1/users/me/subscriptions', '/v1/users/me/webhooks', `/v1/audit/${counting.id}`];
    const before = await Promise.all(paths.map((path) => api.call('GET', path)));

    expect(await server.stop()).toBe(0);
    await server.start();

    const after = await Promise.all(paths.map((path) => api.call('GET', path)));
    expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
    expect((await api.expect<Paged<Source>>(200, 'GET', '/v1/users/me/sources')).page_info.total_count).toBe(3);
    expect(jsonOf(await instance.post(counting))).toEqual([2, 2]);
    await instance.post(deduped, [
      ['a again', { id: 1 }],
      ['b', { id: 2 }],
    ]);
    expect(await instance.payloads(deduped, 2)).toEqual(['a', 'b']);
    await instance.receiver.until('a and b', () => instance.arrived(webhook).length >= 2);
    expect(instance.arrived(webhook)).toEqual(['a', 'b']);
  });

  it('continues a delivery that waits for its next attempt, under the same ids', async () => {
    instance.receiver.clear();
    instance.receiver.behave(always(503));
    const source = await instance.deploy(relayCode());
    await instance.listen(source.id);
    await instance.post(source, { waits: true });
    await instance.receiver.until('the first attempt', ({ received }) => received.length >= 1);
    await server.stop();
    instance.receiver.behave(always(200));
    await server.start();
    await instance.receiver.until('the delivery', ({ accepted }) => accepted.length === 1, 45_000);
    const [first] = instance.receiver.received;
    expect(instance.receiver.accepted[0]).toMatchObject({
      webhookId: first?.webhookId,
      emitId: first?.emitId,
      text: first?.text,
    });
  }, 90_000);

  it('after kill -9 runs acknowledged events that had not run', async () => {
    instance.receiver.clear();
    instance.receiver.behave(always(200));
    const source = await instance.deploy(
      componentCode({
        members: `async run(event) { await new Promise((r) => setTimeout(r, 400)); this.$emit(event.body); },`,
      }),
    );
    await instance.listen(source.id);
    for (let n = 0; n < 5; n++) expect((await instance.post(source, { n })).status).toBe(200);
    await server.kill9();
    await server.start();
    await instance.receiver.untilAccepted(5);
    const numbers = instance.receiver.accepted.map(({ body }) => (body as { n: number }).n);
    expect([...new Set(numbers)].sort()).toEqual([0, 1, 2, 3, 4]);
  }, 60_000);

  it('re-arms timers', async () => {
    const [first] = await instance.payloads(timed, 1);
    expect(first).toMatchObject({ timestamp: expect.any(Number), interval_seconds: 15 });
    expect(Math.abs((first as { timestamp: number }).timestamp - Date.now() / 1000)).toBeLessThan(60);
    // It has ticked once at its deployment, before every restart above.
    await instance.history(timed, 2, undefined, 40_000);
    const { data } = await api.expect<Data<Source>>(200, 'GET', `/v1/sources/${timed.id}`);
    expect(data.active).toBe(true);
  }, 90_000);
});
