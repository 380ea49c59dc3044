import { describe, expect, it } from '@jest/globals';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { type Instance, useStandalone } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

/** Limits on the disk use of one source. One process, because the roles leave the disk to their engines. */
describe('a source that fills the disk', () => {
  /** 100 events of a source over all its channels. */
  const keeping = useStandalone({ env: { SLUICE_EVENTS_KEPT: '1' } });
  const limited = useStandalone({ env: { SLUICE_EVENTS_KEPT: '10', SLUICE_SOURCE_UNREAD_MB: '1' } });
  const control = useStandalone({ env: { SLUICE_EVENTS_KEPT: '10' } });

  /** Channels of one run, which may use 100. */
  const CHANNELS = 90;
  const POSTS = 9;
  /** One small post causes many events, each on its own channel. */
  const flood = componentCode({
    members: `run({ body }) {
      for (let i = 0; i < ${CHANNELS}; i++) this.$emit({ pad: 'x'.repeat(2000) }, { name: body.n + '-' + i });
      this.$emit('done', { name: 'done-' + body.n });
    },`,
  });
  /** Number of readable events of the flood over all channels. */
  const readable = async (instance: Instance, sourceId: string): Promise<number> => {
    let sum = 0;
    for (let n = 0; n < POSTS; n++) {
      const totals = await Promise.all(
        Array.from({ length: CHANNELS }, async (_, i) => {
          const { page_info } = await instance.api.summaries(sourceId, { event_name: `${n}-${i}`, limit: '1' });
          return page_info.total_count;
        }),
      );
      sum += totals.reduce((a, b) => a + b, 0);
    }
    return sum;
  };
  const flooded = async (instance: Instance): Promise<number> => {
    const source = await instance.deploy(flood);
    for (let n = 0; n < POSTS; n++) {
      expect((await instance.post(source, { n })).status).toBe(200);
      await instance.history(source, 1, `done-${n}`);
    }
    return readable(instance, source.id);
  };

  it("with thousands of channels keeps its newest events, and a neighbour's events stay", async () => {
    const neighbour = await keeping.deploy(relayCode());
    await keeping.post(neighbour, { n: 1 });
    await keeping.history(neighbour, 1);
    const kept = await flooded(keeping);
    // 100, and events gathered until the next trim.
    expect(kept).toBeGreaterThanOrEqual(90);
    expect(kept).toBeLessThanOrEqual(100 + 50 + CHANNELS);
    expect(await keeping.payloads(neighbour, 1)).toEqual([{ n: 1 }]);
    expect(await flooded(control)).toBe(CHANNELS * POSTS);
  }, 120_000);

  const LARGE = 'x'.repeat(120_000);
  const slow = componentCode({
    members: `async run({ body }) {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      this.$emit(body.n);
    },`,
  });
  const posted = async (instance: Instance): Promise<{ id: string; accepted: number[]; refused: number }> => {
    const source = await instance.deploy(slow);
    const accepted: number[] = [];
    let refused = 0;
    for (let n = 0; n < 15; n++) {
      const answer = await instance.post(source, { n, pad: LARGE });
      if (answer.status === 200) {
        accepted.push(n);
        continue;
      }
      refused++;
      expect(answer.status).toBe(429);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(jsonOf(answer)).toMatchObject({ code: 'unread_limit', error: expect.stringContaining('limit of 1 MB') });
    }
    return { id: source.id, accepted, refused };
  };

  it('with events that it cannot finish is refused, loses no accepted one, and delays no neighbour', async () => {
    const neighbour = await limited.deploy(relayCode());
    const { id, accepted, refused } = await posted(limited);
    expect(accepted.length).toBeGreaterThanOrEqual(5);
    expect(refused).toBeGreaterThanOrEqual(5);
    const manual = await limited.api.call('POST', `/v1/sources/${id}/run`, { body: { event: {} } });
    expect([manual.status, manual.body]).toEqual([429, expect.objectContaining({ code: 'unread_limit' })]);
    expect((await limited.post(neighbour, { n: 1 })).status).toBe(200);
    expect(await limited.payloads(neighbour, 1)).toEqual([{ n: 1 }]);

    const done = await eventually(
      'all accepted events',
      async () => {
        const { data } = await limited.api.summaries(id, { limit: '100' });
        return data.length >= Math.min(10, accepted.length) ? data.map(({ event }) => event) : undefined;
      },
      30_000,
    );
    expect(accepted).toEqual(expect.arrayContaining(done));
    const again = await eventually(
      'room',
      async () => {
        const { status } = await limited.api.call('POST', `/v1/sources/${id}/run`, { body: { event: {} } });
        return status === 429 ? undefined : status;
      },
      30_000,
    );
    expect(again).toBe(202);

    expect(await posted(control)).toMatchObject({ refused: 0 });
  }, 120_000);
});
