import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';
import { always } from '#test/harness/webhook-receiver.js';

const instance = useInstance();
const { api } = instance;
/** There the reader does not see the roles. */
const inRoles = process.env.SLUICE_TEST_DEPLOYMENT === 'roles';

interface Stats {
  readonly now: number;
  readonly points: readonly Readonly<Record<(typeof COUNTS)[number] | 'at', number>>[];
  readonly waiting: { readonly invocations: number; readonly emits: number; readonly deliveries: number };
  readonly oldest_waiting_s: number | null;
  readonly sources: number;
  readonly webhooks: number;
  readonly problems: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly name: string | null;
    readonly message: string;
    readonly since: number | null;
  }[];
}
const COUNTS = ['arrivals', 'runs', 'errors', 'events', 'attempts', 'failed'] as const;

let workspace = '';
beforeAll(async () => {
  const { data } = await api.expect<Data<{ orgs: readonly { id: string }[] }>>(200, 'GET', '/v1/users/me');
  workspace = data.orgs[0]?.id ?? '';
});

const statsOf = async (query: Record<string, string> = {}): Promise<Stats> =>
  (await api.expect<Data<Stats>>(200, 'GET', `/v1/workspaces/${workspace}/stats`, { query })).data;

const sumOf = ({ points }: Stats): Record<string, number> =>
  Object.fromEntries(COUNTS.map((name) => [name, points.reduce((sum, point) => sum + point[name], 0)]));

const CODE = componentCode({
  props: `http: '$.interface.http'`,
  members: `async run({ body }) {
    if (body.wait) await new Promise((resolve) => setTimeout(resolve, body.wait));
    if (body.fail) throw new Error(body.fail);
    this.$emit(body);
  },`,
});

// docs/reference/rest-api.md#workspace-stats #stats-points
describe('the stats of a workspace', () => {
  it('begin with 60 minutes without anything, of which fewer can be asked for', async () => {
    const stats = await statsOf();
    const { now, points, waiting, oldest_waiting_s, sources, webhooks, problems } = stats;
    expect(points).toHaveLength(60);
    expect(points.at(-1)?.at).toBe(Math.floor(now / 60_000) * 60_000);
    expect(points.map(({ at }, i) => at - (points[0]?.at ?? 0) - i * 60_000).every((off) => off === 0)).toBe(true);
    expect(sumOf(stats)).toEqual(Object.fromEntries(COUNTS.map((name) => [name, 0])));
    expect({ waiting, oldest_waiting_s, sources, webhooks, problems }).toEqual({
      waiting: { invocations: 0, emits: 0, deliveries: 0 },
      oldest_waiting_s: null,
      sources: 0,
      webhooks: 0,
      problems: [],
    });
    expect((await statsOf({ minutes: '2' })).points).toEqual(points.slice(-2));
    for (const minutes of ['0', '61', '1.5', 'all']) {
      const path = `/v1/workspaces/${workspace}/stats?minutes=${minutes}`;
      const { error, code } = await api.expect<ErrorBody>(400, 'GET', path);
      expect([code, error]).toEqual(['invalid_parameter', expect.stringContaining('minutes')]);
    }
  });

  // docs/reference/rest-api.md#stats-problems
  it('count what happens, and say what someone should attend to', async () => {
    const source = await instance.deploy(CODE, {}, 'Orders');
    const webhook = await instance.listen(source.id);
    for (let n = 0; n < 3; n++) await instance.post(source, { n });
    for (let n = 0; n < 2; n++) await instance.post(source, { fail: 'no such order' });
    const counted = await eventually(
      'all are counted',
      async () => {
        const stats = await statsOf();
        const { runs, errors, events, attempts } = sumOf(stats);
        const isCounted = runs === 5 && errors === 2 && events === 3 && attempts === 3;
        return isCounted && stats.problems.length > 0 && stats.waiting.deliveries === 0 ? stats : undefined;
      },
      60_000,
    );
    expect(sumOf(counted)).toEqual({ arrivals: 5, runs: 5, errors: 2, events: 3, attempts: 3, failed: 0 });
    expect(counted).toMatchObject({ sources: 1, webhooks: 1 });
    expect(counted.problems).toEqual([
      {
        kind: 'source_failing',
        subject: source.id,
        name: 'Orders',
        message: '2 errors in 24 hours',
        since: expect.any(Number),
      },
    ]);
    instance.receiver.behave(always(503));
    await instance.post(source, { n: 4 });
    const waits = await eventually(
      'the webhook fails',
      async () => {
        const { problems, waiting } = await statsOf();
        const problem = problems.find(({ kind }) => kind === 'webhook_failing');
        return problem && waiting.deliveries === 1 ? problem : undefined;
      },
      60_000,
    );
    expect(waits).toMatchObject({ subject: webhook, since: expect.any(Number) });
  });

  // docs/reference/rest-api.md#stats-waiting
  it('say what waits, and since when', async () => {
    const source = await instance.deploy(CODE, {}, 'Slow');
    for (let n = 0; n < 30; n++) await instance.post(source, { wait: 3_000 });
    const busy = await eventually(
      'events wait',
      async () => {
        const stats = await statsOf({ minutes: '1' });
        return stats.waiting.invocations > 0 && (inRoles || (stats.oldest_waiting_s ?? 0) >= 1) ? stats : undefined;
      },
      30_000,
    );
    expect(busy.oldest_waiting_s === null).toBe(inRoles);
  });

  it('are for members of the workspace', async () => {
    expect((await api.call('GET', `/v1/orgs/${workspace}/stats`)).status).toBe(200);
    const { code } = await api.expect<ErrorBody>(404, 'GET', '/v1/workspaces/o_none/stats');
    expect(code).toBe('workspace_not_found');
  });
});
