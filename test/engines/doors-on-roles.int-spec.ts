import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { Deployment } from '#test/harness/deployment.js';
import { Instance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

/** Most events of one source, where no runner is alive. */
const LIMIT = 100;
/** More than an ingress may accept, even while it still counts a dead runner as alive. */
const FAR_ABOVE = 4_000;
const AT_ONCE = 8;

const instance = new Instance(new Deployment({ env: { SLUICE_SOURCE_BACKLOG: String(LIMIT) } }));
const { processes } = instance.server;
beforeAll(() => instance.start(), 400_000);
afterAll(() => instance.close(), 120_000);

/** Posts until the source's door closes. Returns how many were accepted. */
const fill = async (source: Source, from = 0): Promise<number> => {
  let accepted = 0;
  let n = from;
  let closed = false;
  const posting = async (): Promise<void> => {
    while (!closed && accepted < FAR_ABOVE) {
      const { status, text, headers } = await instance.post(source, { n: n++ });
      if (status === 200) accepted++;
      else {
        closed = true;
        expect([status, headers['retry-after'], (JSON.parse(text) as { code: string }).code]).toEqual([
          503,
          '1',
          'overloaded',
        ]);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, posting));
  return accepted;
};

/** Runs a source by hand until that is refused. Returns how many runs were accepted. */
const fillByHand = async (source: Source): Promise<number> => {
  for (let accepted = 0; accepted < FAR_ABOVE; accepted++) {
    const { status, body } = await instance.api.call('POST', `/v1/sources/${source.id}/run`, { body: { event: {} } });
    if (status === 202) continue;
    expect([status, (body as { code: string }).code]).toEqual([503, 'overloaded']);
    return accepted;
  }
  return FAR_ABOVE;
};

describe('while no runner is alive', () => {
  it('the door of each source closes at its limit, and opens once a runner has worked it off', async () => {
    const [one, two] = [await instance.deploy(relayCode()), await instance.deploy(relayCode())];
    const webhookId = await instance.listen(one.id);
    for (const source of [one, two]) expect((await instance.post(source, { n: -1 })).status).toBe(200);
    await Promise.all(processes.runner.map((server) => server.kill9()));

    const accepted = await fill(one);
    expect(accepted).toBeLessThan(FAR_ABOVE);
    // The other source has its own door.
    expect((await instance.post(two, { n: 0 })).status).toBe(200);
    expect(await fill(two)).toBeLessThanOrEqual(LIMIT + AT_ONCE);
    expect((await instance.post(one, {})).status).toBe(503);
    // The command-api counts what it stores itself.
    expect(await fillByHand(two)).toBeLessThan(FAR_ABOVE);

    await Promise.all(processes.runner.map((server) => server.start()));
    await eventually(
      'open doors',
      async () => {
        const statuses = [(await instance.post(one, { n: -1 })).status, (await instance.post(two, { n: -1 })).status];
        return statuses.every((status) => status === 200) ? true : undefined;
      },
      120_000,
    );
    const seen = (): number => new Set(instance.arrived(webhookId).map((body) => (body as { n: number }).n)).size;
    // Nothing that was accepted is lost. A number that was refused is not among them.
    await instance.receiver.until('every accepted event', () => seen() >= accepted + 1, 120_000);
    expect(seen()).toBe(accepted + 1);
  }, 600_000);
});
