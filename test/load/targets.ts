import { ApiClient, type Data, endpointOf } from '#test/harness/api-client.js';
import { Server, type ServerOptions, type TestServer } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { PartProcess } from './part-process.js';
import { type Part } from './part-usage.js';
import { type StoreTotals } from './store-figures.js';

/**
 * `Sluice` is the standalone server on the embedded engines with a source, `workflow-1` and `workflow-10` are one with a
 * workflow of that many steps. `roles` is one process per role on the distributed engines.
 */
export type TargetName = 'floor' | 'Sluice' | WorkflowTarget | 'roles';
export type WorkflowTarget = 'workflow-1' | 'workflow-10';

/** A measured target: accepts a POST, and each event arrives at the sink. */
export interface Target {
  readonly name: TargetName;
  readonly urls: readonly string[];
  /** Its current processes. */
  parts(): readonly Part[];
  /** Totals that it has written, where they can be read from outside. */
  readonly stores?: () => Promise<StoreTotals>;
  stop(): Promise<void>;
}

export const startFloor = async (sinkUrl: string): Promise<Target> => {
  const dir = tempDir('floor');
  const part = await PartProcess.start('./floor-relay.js', [sinkUrl, dir]);
  return {
    name: 'floor',
    urls: [part.url],
    parts: () => [{ name: 'floor', pid: part.pid }],
    stop: async () => {
      await part.stop();
      removeDir(dir);
    },
  };
};

/** The smallest possible source, so that the cost is the platform's. */
export const RELAY_COMPONENT = `export default {
  name: 'Relay',
  key: 'relay',
  version: '1.0.0',
  props: { http: '$.interface.http' },
  run(event) {
    this.$emit(event.body);
  },
};
`;

/** A target that also has an API. */
export interface ServingTarget extends Target {
  readonly api: ApiClient;
}

/** A running installation without load. */
export interface Installation {
  readonly server: TestServer;
  readonly api: ApiClient;
  readonly parts: () => readonly Part[];
  /** Milliseconds until it is ready again, on its data. */
  readonly restart: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export const openSluice = async (options?: ServerOptions): Promise<Installation> => {
  const server = new Server(options);
  const api = new ApiClient(server);
  const close = async (): Promise<void> => {
    await api.close();
    await server.close();
  };
  try {
    await server.start();
  } catch (error) {
    await close();
    throw error;
  }
  const restart = async (): Promise<number> => (await server.restart()).readyMs;
  return { server, api, parts: () => [{ name: 'server', pid: server.pid }], restart, close };
};

/** Starts a fresh server with one HTTP source and one webhook to the sink. Rate limits are off (Server's defaults). */
export const startSluice = (sinkUrl: string, options?: ServerOptions): Promise<ServingTarget> =>
  startServing('Sluice', sinkUrl, options, async ({ server, api }) => {
    const source = await api.createSource({ component_code: RELAY_COMPONENT });
    return { id: source.id, url: endpointOf(server, source) };
  });

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

/** Starts a fresh server with one workflow of small code steps. */
export const startWorkflow = (sinkUrl: string, name: WorkflowTarget, options?: ServerOptions): Promise<ServingTarget> =>
  startServing(name, sinkUrl, options, ({ api }) => createWorkflow(api, name === 'workflow-1' ? 1 : 10));

/** A workflow of small code steps, and its endpoint. The last step answers the caller, and emits the event. */
export const createWorkflow = async (api: ApiClient, steps: number): Promise<{ id: string; url: string }> => {
  const code = (n: number): string => {
    const last = `$.send.emit({ raw_event: steps.trigger.event.body }); $.respond({ status: 200, body: 'ok' });`;
    return `export default { run({ steps, $ }) { ${n + 1 === steps ? last : `return ${n};`} } }`;
  };
  const body = {
    name: `workflow-${steps}`,
    triggers: [{ type: 'http', response: 'custom' }],
    steps: Array.from({ length: steps }, (_, n) => ({ namespace: `step_${n}`, code: code(n) })),
  };
  const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
  return { id: data.id, url: data.triggers[0]?.endpoint_url ?? '' };
};

const startServing = async (
  name: TargetName,
  sinkUrl: string,
  options: ServerOptions | undefined,
  deploy: (installation: Installation) => Promise<{ readonly id: string; readonly url: string }>,
): Promise<ServingTarget> => {
  const installation = await openSluice(options);
  const { api, parts, close } = installation;
  try {
    const emitter = await deploy(installation);
    const webhook = await api.createWebhook(sinkUrl);
    await api.subscribe(emitter.id, webhook.id);
    return { name, urls: [emitter.url], parts, api, stop: close };
  } catch (error) {
    await close();
    throw error;
  }
};
