import { describe, expect, it } from '@jest/globals';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api } = instance;

const ECHO = componentCode({
  members: `run(event) {
    const { body } = event.body === undefined ? { body: event } : event;
    console.log('saw', body.n);
    this.$emit(body);
    if (body.fail) throw new Error('as asked');
  },`,
});

const arrivals = (webhook: string, count: number): Promise<readonly unknown[]> =>
  eventually(`${count} deliveries`, () => {
    const bodies = instance.arrived(webhook);
    return Promise.resolve(bodies.length >= count ? bodies : undefined);
  });

describe('x-pd-nostore', () => {
  // docs/reference/rest-api.md#endpoint-switches
  it('runs the component, passes on what it emits, and keeps none of it in a list', async () => {
    const source = await instance.deploy(ECHO);
    const webhook = await instance.listen(source.id);
    expect((await instance.post(source, { n: 1, fail: true }, { 'x-pd-nostore': '1' })).status).toBe(200);
    await instance.post(source, { n: 2 });
    expect(await instance.payloads(source, 1)).toEqual([{ n: 2 }]);
    expect(await arrivals(webhook, 2)).toEqual([{ n: 1, fail: true }, { n: 2 }]);
    expect((await instance.history(source, 1, '$logs')).map(({ event }) => event)).toEqual([
      expect.objectContaining({ msg: 'saw 2' }),
    ]);
    expect((await api.summaries(source.id, { event_name: '$errors' })).data).toEqual([]);
  });

  it('holds for a source that listens too, and for an event that waits', async () => {
    const later = componentCode({
      members: `run(event) { this.$emit(event.body, { delivery_ts: Date.now() + 300 }); },`,
    });
    const [first, listening] = [await instance.deploy(later), await instance.deploy(ECHO)];
    await api.subscribe(first.id, listening.id);
    const webhook = await instance.listen(listening.id);
    await instance.post(first, { n: 1 }, { 'x-pd-nostore': '1' });
    expect(await arrivals(webhook, 1)).toEqual([{ n: 1 }]);
    await instance.post(first, { n: 2 });
    expect(await instance.payloads(listening, 1)).toEqual([{ n: 2 }]);
    expect(await instance.payloads(first, 1)).toEqual([{ n: 2 }]);
  });

  it('leaves nothing to send again, and says so', async () => {
    const source = await instance.deploy(ECHO);
    const webhook = await instance.listen(source.id);
    await instance.post(source, { n: 1 }, { 'x-pd-nostore': '1' });
    await arrivals(webhook, 1);
    const path = `/v1/webhooks/${webhook}/deliveries`;
    const [delivery] = await eventually('the delivery', async () => {
      const { data } = await api.expect<{ data: { id: string }[] }>(200, 'GET', path);
      return data.length > 0 ? data : undefined;
    });
    const again = await api.call<{ error: string }>('POST', `${path}/${delivery?.id}/redeliver`);
    expect(again).toMatchObject({ status: 404, body: { error: expect.stringContaining('is no longer kept') } });
  });
});

describe('x-pd-notrigger', () => {
  // docs/reference/rest-api.md#endpoint-switches
  it('lists the event as a test, and neither runs the component nor tells a listener', async () => {
    const source = await instance.deploy(ECHO);
    const webhook = await instance.listen(source.id);
    const answer = await instance.post(source, { n: 1 }, { 'x-pd-notrigger': '1' });
    expect([answer.status, answer.text]).toEqual([200, '{"success":true}']);
    await instance.post(source, { n: 2 });
    const [kept, run] = await instance.history(source, 2);
    expect(kept?.event).toMatchObject({ method: 'POST', body: { n: 1 } });
    expect(kept?.metadata).toMatchObject({ name: '', emitter_id: source.id, test: true });
    expect(kept?.metadata.emit_id).toMatch(/^[0-9A-Za-z]{27}$/);
    expect(run?.event).toEqual({ n: 2 });
    expect(await arrivals(webhook, 1)).toEqual([{ n: 2 }]);
    expect(await instance.history(source, 1, '$logs')).toHaveLength(1);
  });
});
