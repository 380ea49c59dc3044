import { afterAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type EventSummary, type Paged } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api } = instance;
/** There the reader of runs does not see the runner. */
const inRoles = process.env.SLUICE_TEST_DEPLOYMENT === 'roles';

interface Run {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly ms: number | null;
  readonly http_status: number | null;
  readonly emits: number;
  readonly logs: number;
  readonly error: { readonly name: string; readonly message: string } | null;
}
type WholeRun = Omit<Run, 'emits' | 'logs'> & {
  readonly emits: readonly EventSummary[];
  readonly logs: readonly EventSummary[];
  readonly emits_kept: boolean;
};

const CODE = componentCode({
  props: `${CUSTOM_HTTP}, db: '$.service.db'`,
  members: `async run(event) {
    const { body = {} } = event;
    console.log('asked', body.say ?? 'nothing');
    if (body.say) this.$emit({ said: body.say }, { summary: body.say });
    if (body.wait) await new Promise((resolve) => setTimeout(resolve, body.wait));
    if (body.fail) throw new TypeError(body.fail);
    this.http.respond({ status: 207, body: 'done' });
  },`,
});

const dir = tempDir('source-runs');
afterAll(() => removeDir(dir));

/** docs/reference/command-line.md#sluice-runs */
describe('sluice runs', () => {
  const sluice = (...args: readonly string[]): Promise<Told> => {
    const { apiKey, url } = instance.server;
    const variables = { PATH: process.env.PATH ?? '', HOME: dir, SLUICE_API_KEY: apiKey, SLUICE_URL: url };
    return runNode([CLI, 'runs', ...args], variables, dir);
  };

  it('lists them, and tells of one with its events and lines', async () => {
    const source = await instance.deploy(CODE);
    await instance.post(source, { say: 'hello' });
    await instance.post(source, { fail: 'no such order' });
    const all = await sluice(source.name_slug);
    expect(all.stdout).toMatch(
      /^QUEUED +ID +KIND +STATUS +MS +EMITS +ERROR\n.* http +threw .*TypeError: no such order/,
    );
    expect(all.stdout.split('\n')).toHaveLength(4);
    const failed = await sluice(source.id, '--status', 'threw', '--since', '1h', '--json');
    const { data, page_info } = JSON.parse(failed.stdout) as Paged<Run>;
    expect([data.map(({ status }) => status), page_info.total_count, failed.stderr]).toEqual([['threw'], 1, '']);
    const [said] = (await api.expect<Paged<Run>>(200, 'GET', `/v1/sources/${source.id}/runs?status=ok`)).data;
    const one = await sluice(source.id, said?.id ?? '');
    expect(one.stdout).toMatch(
      /  http  ok  \d+ ms  HTTP 207\nconsole.log asked hello\nemitted  hello  {"said":"hello"}\n$/,
    );
    const [none, wrong] = [await sluice(source.id, 'inv_none'), await sluice(source.id, '--status', 'failed')];
    expect([none.status, wrong.status, wrong.stderr.includes('queued, running, ok, threw, killed')]).toEqual([
      4,
      1,
      true,
    ]);
  });
});

// docs/reference/rest-api.md#source-list-stats
describe('the counts of sources', () => {
  interface Listed {
    readonly id: string;
    readonly stats?: {
      readonly events_24h: number;
      readonly errors_24h: number;
      readonly last_error_at: number | null;
    };
  }

  it('are exact, and say which sources fail', async () => {
    const source = await instance.deploy(CODE, {}, 'counted');
    const started = Date.now();
    for (let n = 0; n < 5; n++) await instance.post(source, { say: `n${n}` });
    for (let n = 0; n < 2; n++) await instance.post(source, { fail: 'x' });
    const { data: workspaces } = await api.expect<Data<{ orgs: readonly { id: string }[] }>>(
      200,
      'GET',
      '/v1/users/me',
    );
    const listed = async (query: Record<string, string>): Promise<readonly Listed[]> => {
      const path = `/v1/workspaces/${workspaces.orgs[0]?.id}/sources`;
      return (await api.expect<Paged<Listed>>(200, 'GET', path, { query })).data;
    };
    const counted = await eventually('all are counted', async () => {
      const [found] = await listed({ q: 'COUNTED', include_stats: 'true' });
      return found?.stats?.errors_24h === 2 ? found : undefined;
    });
    expect(counted).toMatchObject({ id: source.id, stats: { events_24h: 5, errors_24h: 2 } });
    expect(counted.stats?.last_error_at).toBeGreaterThanOrEqual(started);
    expect((await listed({ state: 'failing' })).map(({ id }) => id)).toContain(source.id);
    const silent = await instance.deploy(CODE, {}, 'quiet');
    const ids = (await listed({ state: 'silent' })).map(({ id }) => id);
    expect([ids.includes(silent.id), ids.includes(source.id)]).toEqual([true, false]);
    const { url, apiKey } = instance.server;
    const variables = { PATH: process.env.PATH ?? '', HOME: dir, SLUICE_API_KEY: apiKey, SLUICE_URL: url };
    const failing = await runNode([CLI, 'list', '--q', 'count', '--failing', '--json'], variables, dir);
    expect((JSON.parse(failing.stdout) as Paged<Listed>).data.map(({ id }) => id)).toEqual([source.id]);
    const wrong = await runNode([CLI, 'list', 'apps', '--failing'], variables, dir);
    expect([wrong.status, wrong.stderr]).toEqual([2, 'sluice: --failing lists sources and webhooks, not apps\n']);
  });
});

describe('the runs of a source', () => {
  // docs/reference/rest-api.md#source-runs
  it('are listed with what they left, whatever started them', async () => {
    const source = await instance.deploy(CODE);
    await instance.post(source, { say: 'hello' });
    await instance.post(source, { fail: 'no such order' });
    const path = `/v1/sources/${source.id}/run`;
    const manual = await api.expect<Data<{ id: string }>>(200, 'POST', path, { body: { event: {}, wait: true } });
    const { data, page_info } = await api.expect<Paged<Run>>(200, 'GET', `/v1/sources/${source.name_slug}/runs`);
    expect(page_info).toMatchObject({ total_count: 3, count: 3 });
    expect(data).toMatchObject([
      { id: manual.data.id, kind: 'manual', status: 'ok', http_status: 207, error: null, emits: 0, logs: 2 },
      { kind: 'http', status: 'threw', error: { name: 'TypeError', message: 'no such order' }, http_status: null },
      { kind: 'http', status: 'ok', emits: 1, logs: 1, http_status: 207 },
    ]);
    expect(data.every(({ ms }) => typeof ms === 'number' && ms >= 0)).toBe(true);

    const said = await api.expect<Data<WholeRun>>(200, 'GET', `/v1/sources/${source.id}/runs/${data[2]?.id}`);
    expect(said.data.emits).toMatchObject([{ event: { said: 'hello' }, metadata: { summary: 'hello', name: '' } }]);
    expect(said.data.logs).toMatchObject([{ event: { k: 'console.log', msg: 'asked hello' } }]);
    expect(said.data.emits_kept).toBe(true);
    await api.expect(202, 'DELETE', `/v1/sources/${source.id}/events`);
    const after = await api.expect<Data<WholeRun>>(200, 'GET', `/v1/sources/${source.id}/runs/${data[2]?.id}`);
    expect(after.data).toMatchObject({ emits: [], emits_kept: false, status: 'ok' });
  });

  // docs/reference/rest-api.md#source-runs-filters
  it('are selected by status, kind and time', async () => {
    const source = await instance.deploy(CODE);
    const before = Date.now();
    await instance.post(source, {});
    await instance.post(source, { fail: 'x' });
    const idsOf = async (query: Record<string, string>): Promise<readonly Run[]> =>
      (await api.expect<Paged<Run>>(200, 'GET', `/v1/sources/${source.id}/runs`, { query })).data;
    expect(await idsOf({ status: 'threw,killed' })).toMatchObject([{ status: 'threw' }]);
    expect(await idsOf({ kind: 'timer' })).toEqual([]);
    expect(await idsOf({ until: String(before - 1) })).toEqual([]);
    expect(await idsOf({ since: String(before - 5_000) })).toHaveLength(2);
    const wrong = await api.call<ErrorBody>('GET', `/v1/sources/${source.id}/runs`, { query: { kind: 'webhook' } });
    expect([wrong.status, wrong.body.code, wrong.body.details?.['field']]).toEqual([400, 'invalid_parameter', 'kind']);
  });

  // docs/reference/rest-api.md#source-runs
  it('are listed from the moment at which they are queued', async () => {
    const source = await instance.deploy(CODE);
    const path = `/v1/sources/${source.id}/run`;
    const start = (event: object) => api.expect<Data<{ id: string }>>(202, 'POST', path, { body: { event } });
    const [first, second] = [await start({ body: { wait: 3_000 } }), await start({})];
    const runOf = async (id: string): Promise<WholeRun> =>
      (await api.expect<Data<WholeRun>>(200, 'GET', `/v1/sources/${source.id}/runs/${id}`)).data;
    expect(await runOf(second.data.id)).toMatchObject({ kind: 'manual', status: 'queued', ms: null, emits: [] });
    if (!inRoles) {
      await eventually('the first begins', async () => (await runOf(first.data.id)).status === 'running' || undefined);
      const { data } = await api.expect<Paged<Run>>(200, 'GET', `/v1/sources/${source.id}/runs`);
      expect(data.map(({ status }) => status)).toEqual(['queued', 'running']);
    }
    await eventually('both end', async () => (await runOf(second.data.id)).status === 'ok' || undefined);
    const { data } = await api.expect<Paged<Run>>(200, 'GET', `/v1/sources/${source.id}/runs`);
    expect(data.map(({ id, status }) => [id, status])).toEqual([
      [second.data.id, 'ok'],
      [first.data.id, 'ok'],
    ]);
    const none = await api.call<ErrorBody>('GET', `/v1/sources/${source.id}/runs/inv_000000000000000000`);
    expect([none.status, none.body.code]).toEqual([404, 'run_not_found']);
  });
});
