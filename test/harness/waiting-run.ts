import { type ApiClient, type Data } from './api-client.js';
import { send } from './http.js';
import { eventually } from './wait.js';

interface Workflow {
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

/** A run of a new workflow, once it waits for ten minutes. Its step `a` returns the addresses that end the wait. */
export const waitingRun = async (api: ApiClient): Promise<{ readonly id: string }> => {
  const code = 'export default { run({ $ }) { return $.flow.delay(600_000) } }';
  const body = { name: 'waits', triggers: [{ type: 'http' }], steps: [{ namespace: 'a', code }] };
  const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
  const { headers } = await send(data.triggers[0]?.endpoint_url ?? '', { body: {} });
  const id = String(headers['x-sluice-run-id']);
  return eventually('the run waits', async () => {
    const reply = await api.call<Partial<Data<{ state: string }>>>('GET', `/v1/runs/${id}`);
    return reply.body.data?.state === 'waiting' ? { id } : undefined;
  });
};
