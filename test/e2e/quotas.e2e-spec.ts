import { describe, expect, it } from '@jest/globals';
import { type ErrorBody } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance({ env: { SLUICE_DAILY_CREDITS: '5' } });
const { api } = instance;

interface Quotas {
  readonly daily_invocations_quota: number;
  readonly daily_invocations_used: number;
  readonly daily_compute_time_quota: number;
  readonly daily_credits_quota: number;
}

// docs/reference/rest-api.md#quotas
describe('a quota of a day', () => {
  // docs/reference/rest-api.md#quotas
  it('refuses what starts a run once it is used up, while what was accepted runs', async () => {
    const source = await instance.deploy(relayCode());
    const action = `export default { name: 'one', version: '0.0.1', type: 'action', props: {}, run() { return 1; } };`;
    const { data: component } = await api.expect<{ data: { id: string } }>(200, 'POST', '/v1/components', {
      body: { component_code: action },
    });
    for (let n = 0; n < 4; n++) await instance.post(source, { n });
    await api.expect(200, 'POST', '/v1/actions/run', { body: { id: component.id } });
    expect(await instance.payloads(source, 4)).toHaveLength(4);

    const refused = await eventually('a refusal', async () => {
      const answer = await instance.post(source, { late: true });
      return answer.status === 429 ? answer : undefined;
    });
    expect(jsonOf(refused)).toEqual({
      code: 'quota_exceeded',
      error: expect.stringMatching(
        /^workspace o_\w+ has used \d+ of its 5 credits of today: .* at \d{4}-.*T00:00:00\.000Z, or have SLUICE_DAILY_CREDITS raised$/,
      ),
    });
    const wait = Number(refused.headers['retry-after']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(86_400);

    const starts: [string, unknown][] = [
      [`/v1/sources/${source.id}/run`, {}],
      ['/v1/apps/chat/events', { event_name: 'message', payload: {} }],
      ['/v1/actions/run', { id: component.id }],
    ];
    for (const [path, body] of starts) {
      const reply = await eventually(`a refusal of ${path}`, async () => {
        const answer = await api.call<ErrorBody>('POST', path, { body });
        return answer.status === 429 ? answer : undefined;
      });
      expect(reply.body).toMatchObject({ code: 'quota_exceeded', details: { quota: 'credits', limit: 5 } });
      expect(reply.headers['retry-after']).toMatch(/^\d+$/);
    }
    const me = await api.expect<{ data: Quotas }>(200, 'GET', '/v1/users/me');
    expect(me.data.daily_invocations_used).toBeGreaterThanOrEqual(5);
    expect((await api.call('GET', `/v1/sources/${source.id}`)).status).toBe(200);
    expect((await api.call('DELETE', `/v1/sources/${source.id}`)).status).toBe(204);
  });

  // docs/reference/rest-api.md#quotas #daily-usage #workspace-fields
  it('is shown with the workspace, the user and the limits', async () => {
    const { data: user } = await api.expect<{ data: Quotas & { orgs: (Quotas & { id: string })[] } }>(
      200,
      'GET',
      '/v1/users/me',
    );
    const unlimited = { daily_invocations_quota: 2_147_483_647, daily_compute_time_quota: 2_147_483_647 };
    expect(user).toMatchObject(unlimited);
    expect(user.orgs).toHaveLength(1);
    const { data: workspace } = await api.expect<{ data: Quotas }>(200, 'GET', `/v1/workspaces/${user.orgs[0]?.id}`);
    expect(workspace).toMatchObject({ ...unlimited, daily_credits_quota: 5 });
    const { data: limits } = await api.expect<{ data: { setting: string; value: number }[] }>(200, 'GET', '/v1/limits');
    expect(limits).toContainEqual(expect.objectContaining({ setting: 'SLUICE_DAILY_CREDITS', value: 5 }));
  });
});
