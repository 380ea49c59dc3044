import { type ErrorBody } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { type Instance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

interface Answer {
  readonly data?: Workflow;
  readonly warnings?: readonly { readonly path?: string; readonly message: string }[];
  readonly details?: {
    readonly errors?: readonly { readonly path: string; readonly message: string; readonly line?: number }[];
  };
}

interface Run {
  readonly data?: {
    readonly state: string;
    readonly error: { readonly namespace: string | null; readonly name: string; readonly message: string } | null;
    readonly steps: readonly {
      readonly namespace: string;
      readonly logs: readonly { readonly k: string; readonly msg?: string }[];
    }[];
  };
}

const ENDED = ['succeeded', 'exited', 'failed', 'cancelled'];

/** Deploys a definition in YAML and returns what its author reads: the answer, or, of one event, the reply and the run. */
export class WorkflowAuthor {
  constructor(private readonly instance: Instance) {}

  async reads(yaml: string, event?: unknown): Promise<string> {
    const { api, server } = this.instance;
    const headers = { 'content-type': 'application/yaml' };
    const { status, body } = await api.call<Answer & ErrorBody>('POST', '/v1/workflows', { body: yaml, headers });
    const errors = body.details?.errors ?? [];
    if (status !== 200) {
      const told = errors.map(
        ({ path, message, line }) => `${path}${line === undefined ? '' : ` (line ${line})`}: ${message}`,
      );
      return [`${status} ${body.error}`, ...told].join('\n');
    }
    const told = (body.warnings ?? []).map(({ path = '', message }) => `warning: ${path}: ${message}`);
    const workflow = body.data;
    if (event === undefined || !workflow) return told.join('\n');
    const url = server.url + new URL(workflow.triggers[0]?.endpoint_url ?? '').pathname;
    const reply = await send(url, { body: event });
    if (reply.status >= 400) told.push(`endpoint: ${reply.status} ${reply.text}`);
    const run = await this.ended(String(reply.headers['x-sluice-run-id']));
    if (run.error)
      told.push(`${run.state} in ${run.error.namespace ?? 'no step'}: ${run.error.name}: ${run.error.message}`);
    for (const { namespace, logs } of run.steps) {
      for (const { k, msg } of logs) told.push(`log of ${namespace}: ${k} ${msg ?? ''}`);
    }
    return told.join('\n');
  }

  private ended(id: string): Promise<NonNullable<Run['data']>> {
    return eventually('the run has ended', async () => {
      const { body } = await this.instance.api.call<Run>('GET', `/v1/runs/${id}`);
      return body.data && ENDED.includes(body.data.state) ? body.data : undefined;
    });
  }
}
