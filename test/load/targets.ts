import { ApiClient, endpointOf } from '#test/harness/api-client.js';
import { Server, type ServerOptions, type TestServer } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { PartProcess } from './part-process.js';
import { type Part } from './part-usage.js';
import { type StoreTotals } from './store-figures.js';

/**
 * `Sluice` is the standalone server on the embedded engines. `roles` is one process per role on the distributed ones.
 */
export type TargetName = 'floor' | 'Sluice' | 'roles';

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
export const startSluice = async (sinkUrl: string, options?: ServerOptions): Promise<ServingTarget> => {
  const { server, api, parts, close } = await openSluice(options);
  try {
    const source = await api.createSource({ component_code: RELAY_COMPONENT });
    const webhook = await api.createWebhook(sinkUrl);
    await api.subscribe(source.id, webhook.id);
    return { name: 'Sluice', urls: [endpointOf(server, source)], parts, api, stop: close };
  } catch (error) {
    await close();
    throw error;
  }
};
