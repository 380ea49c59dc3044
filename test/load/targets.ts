import { ApiClient, endpointOf } from '#test/harness/api-client.js';
import { Server } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { PartProcess } from './part-process.js';

/** What is measured: takes a POST, and each event arrives at the sink. */
export interface Target {
  readonly name: 'floor' | 'Sluice';
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export const startFloor = async (sinkUrl: string): Promise<Target> => {
  const dir = tempDir('floor');
  const part = await PartProcess.start('./floor-relay.js', [sinkUrl, dir]);
  return {
    name: 'floor',
    url: part.url,
    pid: part.pid,
    stop: async () => {
      await part.stop();
      removeDir(dir);
    },
  };
};

/** As small as a source can be: what costs is the platform. */
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

export interface SluiceTarget extends Target {
  readonly server: Server;
  readonly api: ApiClient;
}

/** A fresh server with one HTTP source, subscribed by one webhook: the sink. Limits of rate are off (Server's defaults). */
export const startSluice = async (sinkUrl: string): Promise<SluiceTarget> => {
  const server = new Server();
  const api = new ApiClient(server);
  const stop = async (): Promise<void> => {
    await api.close();
    await server.close();
  };
  try {
    await server.start();
    const source = await api.createSource({ component_code: RELAY_COMPONENT });
    const webhook = await api.createWebhook(sinkUrl);
    await api.subscribe(source.id, webhook.id);
    return { name: 'Sluice', url: endpointOf(server, source), pid: server.pid, server, api, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
