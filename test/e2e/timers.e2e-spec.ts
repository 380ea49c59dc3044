import { describe, expect, it } from '@jest/globals';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

describe('a timer', () => {
  it('ticks once as soon as an interval source is created, with seconds and both time zones', async () => {
    const code = componentCode({
      props: `timer: { type: '$.interface.timer', default: { intervalSeconds: 3600 } }`,
      members: 'run(event) { this.$emit({ event, timer: this.timer }); },',
    });
    const source = await instance.deploy(code);
    const [tick] = (await instance.payloads(source, 1)) as { event: { timestamp: number }; timer: unknown }[];
    const zone = {
      iso8601: {
        timestamp: expect.any(String),
        date: expect.any(String),
        time: expect.any(String),
        timezone: expect.any(String),
      },
      epoch: expect.anything(),
    };
    expect(tick?.event).toMatchObject({ interval_seconds: 3600, timezone_configured: zone, timezone_utc: zone });
    expect(tick?.event).not.toHaveProperty('cron');
    expect(Math.abs((tick?.event.timestamp ?? 0) - Date.now() / 1000)).toBeLessThan(60);
    expect(tick?.timer).toMatchObject({ type: '$.interface.timer' });
  });

  it('with cron waits for its time', async () => {
    const code = componentCode({ props: `timer: '$.interface.timer'`, members: 'run(event) { this.$emit(event); },' });
    const source = await instance.deploy(code, { timer: { cron: '0 0 1 1 *' } });
    await api.runNow(source.id, { by: 'hand' });
    expect(await instance.payloads(source, 1)).toEqual([{ by: 'hand' }]);
  });

  it('with cron and seconds ticks on its own, and stops when the source is inactive', async () => {
    const code = componentCode({ props: `timer: '$.interface.timer'`, members: 'run(event) { this.$emit(event); },' });
    const source = await instance.deploy(code, { timer: { cron: '*/15 * * * * *', timezone: 'Asia/Kathmandu' } });
    const [tick] = await instance.history(source, 1, undefined, 30_000);
    expect(tick?.event).toMatchObject({ cron: '*/15 * * * * *', timestamp: expect.any(Number) });
    expect((tick?.event as { timestamp: number }).timestamp % 15).toBe(0);
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { active: false } });
    expect((await api.getSource(source.id)).active).toBe(false);
  }, 60_000);

  it('beside an HTTP interface is told apart by timestamp', async () => {
    const code = componentCode({
      props: `${CUSTOM_HTTP}, timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } }`,
      members: `run(event) {
        if (event.timestamp) this.$emit('tick');
        else this.http.respond({ status: 200, body: { path: event.path } });
      },`,
    });
    const source = await instance.deploy(code);
    expect(jsonOf(await instance.post(source, {}))).toEqual({ path: '/' });
    expect(await instance.payloads(source, 1)).toEqual(['tick']);
  });

  it('keeps its stored interval when the default in the code changes', async () => {
    const timed = (seconds: number): string =>
      componentCode({
        props: `timer: { type: '$.interface.timer', default: { intervalSeconds: ${seconds} } }`,
        members: 'run() {},',
      });
    const source = await instance.deploy(timed(3600));
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { component_code: timed(1800) } });
    expect((await api.getSource(source.id)).configured_props.timer).toMatchObject({ interval_seconds: 3600 });
    const configured_props = { timer: { interval_seconds: 60 } };
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { configured_props } });
    expect((await api.getSource(source.id)).configured_props.timer).toMatchObject({ interval_seconds: 60 });
  });
});
