import { describe, expect, it } from '@jest/globals';
import { Cron } from 'croner';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

/** Longest wait of a neighbour, in milliseconds. Each attack, unhindered, takes the thread for longer. */
const BOUND_MS = 4_000;

const took = (work: () => unknown): number => {
  const from = performance.now();
  work();
  return performance.now() - from;
};

/** Longest time that one of the neighbour's requests takes, one after another, until the attack is over. */
const longestWhile = async (attack: Promise<unknown>): Promise<number> => {
  let isOver = false;
  const over = attack.finally(() => (isOver = true));
  let longest = 0;
  while (!isOver) {
    const from = performance.now();
    expect((await api.call('GET', '/v1/users/me')).status).toBe(200);
    longest = Math.max(longest, performance.now() - from);
  }
  await over;
  return longest;
};

describe('filters whose parts nearly match everywhere in an event', () => {
  const FILTERS = 40;
  const EVENTS = 5;
  // A letter that the event lacks at its end would let the engine's search skip most of the event.
  const part = (n: number): string => `ab${'a'.repeat(3_900 - n)}`;
  const text = 'a'.repeat(480_000);

  it('delay no neighbour, before and after a restart, and every event goes where it should', async () => {
    // Control: the engine's own search of all of them would take the thread for longer than the bound.
    expect(took(() => text.includes(part(0))) * FILTERS * EVENTS).toBeGreaterThan(BOUND_MS);
    const attacked = await instance.deploy(relayCode());
    const neighbour = await instance.deploy(relayCode());
    const wanted = await instance.listen(neighbour.id);
    const matching = await instance.listen(attacked.id);
    for (let n = 0; n < FILTERS; n++) {
      const { data } = await api.expect<{ data: { id: string } }>(200, 'POST', '/v1/webhooks', {
        query: { url: `${instance.receiver.url}/unwanted/${n}` },
      });
      const filter = { x: { contains: part(n) } };
      const body = { emitter_id: attacked.id, listener_id: data.id, filter };
      await api.expect(200, 'POST', '/v1/subscriptions', { body });
    }
    const send = async (from: number): Promise<void> => {
      for (let n = from; n < from + EVENTS; n++) {
        expect((await instance.post(attacked, { n, x: text })).status).toBe(200);
        expect((await instance.post(neighbour, { n })).status).toBe(200);
      }
      await instance.receiver.until(
        'the events of both',
        () => [wanted, matching].every((id) => instance.arrived(id).length >= from + EVENTS),
        120_000,
      );
    };
    const delays = [await longestWhile(send(0))];
    // Events that are unrouted when the server stops are routed, and examined, when it starts.
    for (let n = 0; n < EVENTS; n++)
      expect((await instance.post(attacked, { n: EVENTS + n, x: text })).status).toBe(200);
    await instance.server.restart();
    delays.push(
      await longestWhile(
        instance.receiver.until('those sent before', () => instance.arrived(matching).length >= 2 * EVENTS, 120_000),
      ),
    );
    expect(Math.max(...delays)).toBeLessThan(BOUND_MS);
    const numbers = instance.arrived(matching).map((event) => (event as { n: number }).n);
    expect([...new Set(numbers)].sort((a, b) => a - b)).toEqual(Array.from({ length: 2 * EVENTS }, (_, n) => n));
    expect(instance.receiver.received.filter(({ path }) => path.startsWith('/unwanted/'))).toEqual([]);
  }, 300_000);
});

describe('texts of megabytes in fields that hold a few words', () => {
  const REQUESTS = 60;
  const cron = `1${',1'.repeat(900_000)} * * * *`;
  const timer = componentCode({ props: `t: '$.interface.timer'`, members: 'run() {},' });

  it('are refused with field, limit and length, and delay no neighbour', async () => {
    // Control: to read the pattern for each of the requests takes the thread for longer than the bound.
    expect(took(() => new Cron(cron, { timezone: 'UTC' }).nextRuns(62)) * REQUESTS).toBeGreaterThan(BOUND_MS);
    const refused = async (): Promise<void> => {
      for (let n = 0; n < REQUESTS; n++) {
        const body = { component_code: timer, configured_props: { t: { cron } } };
        expect(await api.call('POST', '/v1/sources', { body })).toMatchObject({
          status: 400,
          body: { code: 'invalid_prop', details: { prop: 't', limit: 256, actual: `${cron.length} characters` } },
        });
      }
    };
    expect(await longestWhile(refused())).toBeLessThan(BOUND_MS);
  }, 300_000);

  it.each([
    ['a default', `t: { type: '$.interface.timer', default: { cron: '1,'.repeat(100_000) + '1 * * * *' } }`, 65_536],
    ['a fixed value', `t: { type: '$.interface.timer', static: { cron: '1,'.repeat(1_000) + '1 * * * *' } }`, 1_024],
  ])('are refused as %s in the code of a component', async (_, props, limit) => {
    const component_code = componentCode({ props, members: 'run() {},' });
    expect(await api.call('POST', '/v1/sources', { body: { component_code } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_component', details: { limit } },
    });
  });

  it.each(['include', 'exclude', 'workspace_id', 'name'])('are refused as %s', async (field) => {
    const body = { component_code: relayCode(), [field]: 'a,'.repeat(500_000) };
    const { status, body: answer } = await api.call('POST', '/v1/sources', { body });
    expect([400, 404]).toContain(status);
    if (status === 400) expect(answer).toMatchObject({ details: { field, actual: 1_000_000 } });
  });

  it('are refused as the host of a URL, which the parser reads in quadratic time', async () => {
    const code = componentCode({ props: `r: 'http_request'`, members: 'run() {},' });
    const host = Array.from({ length: 16_000 }, (_, n) => String.fromCharCode(0x4e00 + n)).join('');
    const props = { r: { method: 'GET', url: `https://${host}.example/` } };
    expect(
      await api.call('POST', '/v1/sources', { body: { component_code: code, configured_props: props } }),
    ).toMatchObject({
      status: 400,
      body: { code: 'invalid_prop', details: { prop: 'r.url', limit: 2_048 } },
    });
  });
});
