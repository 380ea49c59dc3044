import { type ApiClient, type Data } from '#test/harness/api-client.js';
import { newHistogram, quantilesMs } from './latencies.js';
import { inParallel } from './many-sources.js';
import { openSluice } from './targets.js';

const ASKED = 300;

interface ToolFigures {
  readonly tools: number;
  readonly kb: number;
  readonly listMs: { readonly p50: number; readonly p99: number; readonly max: number };
}

interface Listed {
  readonly result: { readonly tools: readonly unknown[] };
}

/** Deploys workflows with a `tool` trigger, and times `tools/list`, one request after the other. */
export const toolFigures = async (tools: number): Promise<ToolFigures> => {
  const installation = await openSluice();
  const { api } = installation;
  try {
    await inParallel(
      tools,
      async (n) => void (await api.expect<Data<object>>(200, 'POST', '/v1/workflows', toolOf(n))),
    );
    // The first request loads what serves the protocol.
    const { text, body } = await listed(api);
    if (body.result.tools.length !== tools) throw new Error(`${body.result.tools.length} of ${tools} tools are listed`);
    const times = newHistogram();
    for (let n = 0; n < ASKED; n++) {
      const began = performance.now();
      await listed(api);
      times.recordValue(Math.max(1, Math.round((performance.now() - began) * 1_000)));
    }
    const { p50, p99, max } = quantilesMs(times);
    return { tools, kb: text.length / 1_024, listMs: { p50, p99, max } };
  } finally {
    await installation.close();
  }
};

const toolOf = (n: number): { readonly body: object } => {
  const properties = {
    order: { type: 'string', description: 'Number of the order, as on its invoice' },
    lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } }, maxItems: 100 },
  };
  const input = { type: 'object', properties, required: ['order'] };
  const triggers = [{ type: 'tool', name: `look_up_${n}`, description: `Looks up what is known of order ${n}`, input }];
  return { body: { name: `Look up ${n}`, triggers, steps: [{ namespace: 'a', code: 'export default { run() {} }' }] } };
};

const listed = async (api: ApiClient): Promise<{ readonly text: string; readonly body: Listed }> => {
  const headers = { accept: 'application/json, text/event-stream' };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const reply = await api.call<Listed>('POST', '/mcp', { body, headers });
  if (reply.status !== 200) throw new Error(`tools/list was answered ${reply.status}: ${reply.text}`);
  return reply;
};
