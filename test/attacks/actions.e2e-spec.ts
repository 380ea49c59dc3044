import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace } from '#test/harness/second-workspace.js';

const SLOTS = 4;
const SLOW_RUNS = 20;

describe('a workspace that runs many slow actions', () => {
  const instance = useInstance({
    env: { SLUICE_CALLS: String(SLOTS), SLUICE_CALLS_WAITING: String(SLOW_RUNS), SLUICE_ACTION_TIMEOUT_S: '20' },
  });
  let stranger: ApiClient;

  beforeAll(async () => {
    stranger = (await addWorkspace(instance, 'mallory')).api;
  }, 120_000);
  afterAll(() => stranger.close());

  const save = async (api: ApiClient, run: string): Promise<string> => {
    const code = componentCode({ props: '', members: `type: 'action', ${run}` });
    const saved = await api.call<{ data: { id: string } }>('POST', '/v1/components', {
      body: { component_code: code },
    });
    return saved.body.data.id;
  };
  const run = (api: ApiClient, id: string) =>
    api.call<{ ret: unknown; code: string }>('POST', '/v1/actions/run', { body: { id } });

  it('does not delay the action of another, and is refused beyond its queue', async () => {
    const slow = await save(stranger, `run() { return new Promise((resolve) => setTimeout(resolve, 2_000)); }`);
    const quick = await save(instance.api, `run() { return 'done'; }`);
    let ended = 0;
    const all = Array.from({ length: SLOW_RUNS + SLOTS }, async () => {
      const reply = await run(stranger, slow);
      if (reply.status === 200) ended++;
      return reply;
    });
    // A process that the stranger's key could name is not run for it either.
    expect((await run(stranger, quick)).status).toBe(404);
    const reply = await run(instance.api, quick);
    expect(reply.body.ret).toBe('done');
    // Control: most of the slow ones still wait, so a queue without turns would have kept this one waiting too.
    expect(ended).toBeLessThan(SLOW_RUNS / 2);
    const replies = await Promise.all(all);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(SLOTS / 2);
    expect(refused[0]?.body.code).toBe('too_many_calls');
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(SLOW_RUNS + SLOTS / 2);
  }, 180_000);
});
