import { describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Timer {
  readonly id: string;
  readonly next_tick_ms: number | null;
  readonly schedule_changed_at: number;
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly Timer[];
}
interface Run {
  readonly id: string;
  readonly trigger: object;
  readonly created_at_ms: number;
  readonly event: Readonly<Record<string, unknown>>;
}

const { api } = useInstance();

const steps = [{ namespace: 'a', code: 'export default { run() {} }' }];
const created = async (trigger: object): Promise<Workflow> => {
  const body = { name: 'w', triggers: [{ type: 'timer', ...trigger }], steps };
  return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
};
const changed = async ({ id }: Workflow, body: object): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'PUT', `/v1/workflows/${id}`, { body })).data;
const runsOf = async ({ id }: Workflow): Promise<readonly Run[]> =>
  (await api.expect<Data<Run[]>>(200, 'GET', `/v1/workflows/${id}/runs`)).data;
const timerOf = ({ triggers: [timer] }: Workflow): Timer => {
  if (!timer) throw new Error('the workflow has no trigger');
  return timer;
};

// docs/reference/workflows.md#trigger-timer
describe('a workflow with a timer', () => {
  it('75: runs at its first time, and not at its deployment', async () => {
    const before = Date.now();
    const workflow = await created({ interval_seconds: 15 });
    const idle = await created({ interval_seconds: 15 });
    await changed(idle, { active: false });
    const timer = timerOf(workflow);
    expect(timer).toMatchObject({
      id: expect.stringMatching(/^ti_/),
      interval_seconds: 15,
      cron: null,
      timezone: 'UTC',
    });
    const dueAt = timer.next_tick_ms ?? 0;
    expect([dueAt >= before + 15_000, dueAt <= Date.now() + 15_000]).toEqual([true, true]);
    // A change of anything else leaves the schedule as it is.
    expect(timerOf(await changed(workflow, { settings: { queue_size: 5 } }))).toEqual(timer);
    expect(await runsOf(workflow)).toEqual([]);
    const run = await eventually('the run of the tick', async () => (await runsOf(workflow))[0], 30_000);
    expect(run.trigger).toEqual({ type: 'timer', id: timer.id, name: 'timer' });
    expect(run.created_at_ms).toBeGreaterThanOrEqual(dueAt);
    const { data } = await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${run.id}`);
    expect(data.event).toMatchObject({ timestamp: Math.floor(dueAt / 1_000), interval_seconds: 15 });
    expect(await runsOf(idle)).toEqual([]);
  }, 60_000);

  it('keeps its id with another schedule, whose time begins anew', async () => {
    const workflow = await created({ cron: '0 9 * * *', timezone: 'Europe/Berlin', overlap: 'skip' });
    const timer = timerOf(workflow);
    expect(timer).toMatchObject({ cron: '0 9 * * *', timezone: 'Europe/Berlin', overlap: 'skip' });
    const other = timerOf(await changed(workflow, { triggers: [{ type: 'timer', interval_seconds: 3_600 }], steps }));
    expect(other.id).toBe(timer.id);
    expect(other.next_tick_ms ?? 0).toBeGreaterThan(Date.now() + 3_500_000);
    expect(timerOf(await changed(workflow, { active: false })).next_tick_ms).toBeNull();
  });
});
