import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type ApiClient, type Data, type Paged } from '#test/harness/api-client.js';

export interface DeployedWorkflow {
  readonly id: string;
  readonly ownerId: string;
  readonly url: string;
}

interface Workflow {
  readonly id: string;
  readonly owner_id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

/** A step that answers the caller. */
export const ANSWERS = 'export default { run({ $ }) { $.respond({ status: 200, body: "ok" }) } }';

/**
 * Deploys a workflow with an HTTP trigger and code steps that keeps all its runs.
 * @param more keys of each step
 */
export const deployWorkflow = async (
  api: ApiClient,
  codes: readonly string[],
  response = 'default',
  more: object = {},
): Promise<DeployedWorkflow> => {
  const steps = codes.map((code, n) => ({ namespace: `step_${n}`, code, ...more }));
  const settings = { data_retention: { runs: 1_000_000, days: 3_650 } };
  const body = { name: 'measured', triggers: [{ type: 'http', response }], steps, settings };
  const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
  return { id: data.id, ownerId: data.owner_id, url: data.triggers[0]?.endpoint_url ?? '' };
};

const agent = new Agent({ connections: 64 });

/** Resolves with the id of the run. Back-pressure is waited out. */
export const hitWith = async (url: string, body: object): Promise<string> => {
  for (;;) {
    const reply = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await reply.body.dump();
    const id = reply.headers['x-sluice-run-id'];
    if (reply.statusCode === 200 && typeof id === 'string') return id;
    if (reply.statusCode !== 503 && reply.statusCode !== 429) throw new Error(`${url} answered ${reply.statusCode}`);
    await pause(100);
  }
};

/** Runs of a workflow in a state. 10,000 stands for more. */
export const totalRuns = async (api: ApiClient, workflowId: string, state: string): Promise<number> => {
  const query = { state, limit: '1' };
  const path = `/v1/workflows/${workflowId}/runs`;
  const { page_info: page } = await api.expect<Paged<unknown>>(200, 'GET', path, { query });
  return page.total_count;
};

export const dirMb = (dir: string): number =>
  readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) /
  2 ** 20;
