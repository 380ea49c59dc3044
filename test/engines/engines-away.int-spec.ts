import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EngineServers, type Killable, startEngineServers } from '#test/faults/engine-servers.js';
import { ApiClient } from '#test/harness/api-client.js';
import { Deployment } from '#test/harness/deployment.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';

interface Report {
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
}

/** Uses separate servers, because it kills them. One process of each role. */
describe('engines that are unavailable', () => {
  let servers: EngineServers;
  let deployment: Deployment;
  const clients = new Map<Server, ApiClient>();

  beforeAll(async () => {
    servers = await startEngineServers();
    deployment = new Deployment({ engines: servers.addresses });
  }, 120_000);
  afterAll(async () => {
    await Promise.all([...clients.values()].map((client) => client.close()));
    await deployment.close();
    await servers.stop();
  }, 120_000);

  const readiness = async (server: Server): Promise<Report> => {
    const client = clients.get(server) ?? new ApiClient({ url: await server.listening(), apiKey: '' });
    clients.set(server, client);
    return (await client.call<Report>('GET', '/readyz', { key: null })).body;
  };

  /** Every process reports that this engine, and no other, makes it not ready. */
  const allMiss = (engine: string, others: readonly string[]): Promise<unknown> =>
    Promise.all(
      deployment.all.map((server) =>
        eventually(
          `/readyz names ${engine}`,
          async () => {
            const { status, checks } = await readiness(server);
            const said = checks['engines'] ?? '';
            return status === 'not_ready' && said.includes(engine) && others.every((other) => !said.includes(other))
              ? true
              : undefined;
          },
          30_000,
          250,
        ),
      ),
    );

  const allReady = (): Promise<unknown> =>
    Promise.all(
      deployment.all.map((server) =>
        eventually(
          '/readyz is ready again',
          async () => ((await readiness(server)).status === 'ready' ? true : undefined),
          60_000,
          250,
        ),
      ),
    );

  const linesOf = (server: Server, message: string): readonly string[] =>
    server.lastOutput.split('\n').filter((line) => line.includes(message));

  const saysThrice = (server: Server): boolean =>
    ['Kafka', 'MongoDB', 'EventStoreDB'].every((engine) => linesOf(server, `waiting for ${engine}`).length >= 3);

  it('are waited for at the start, with a line a second, and named by /readyz', async () => {
    const { broker, mongo, eventStore } = servers;
    await Promise.all([broker.kill9(), mongo.kill9(), eventStore.kill9()]);
    const watchThenBringThem = async (): Promise<void> => {
      await eventually(
        'every process has said three times what it waits for',
        () => (deployment.all.every((server) => saysThrice(server)) ? true : undefined),
        60_000,
      );
      for (const server of deployment.all) {
        const { status, checks } = await readiness(server);
        expect(status).toBe('not_ready');
        expect(checks['engines']).toContain('Kafka');
        expect(checks['engines']).toContain('EventStoreDB');
        expect(checks['engines']).toContain('MongoDB');
        expect(linesOf(server, 'server.started')).toEqual([]);
      }
      await Promise.all([broker.start(), mongo.start(), eventStore.start()]);
    };
    await Promise.all([deployment.start(), watchThenBringThem()]);
    for (const server of deployment.all) expect(linesOf(server, 'server.started')).toHaveLength(1);
  }, 180_000);

  it.each<[string, (servers: EngineServers) => Killable, string[]]>([
    ['EventStoreDB', ({ eventStore }) => eventStore, ['MongoDB', 'Kafka']],
    ['MongoDB', ({ mongo }) => mongo, ['EventStoreDB', 'Kafka']],
    ['Kafka', ({ broker }) => broker, ['EventStoreDB', 'MongoDB']],
  ])(
    'later: %s alone is named by /readyz of every role, and each is ready again by itself',
    async (name, of, others) => {
      await allReady();
      const pids = deployment.all.map(({ pid }) => pid);
      const engine = of(servers);
      await engine.kill9();
      await allMiss(name, others);
      await engine.start();
      await allReady();
      expect(deployment.all.map(({ pid }) => pid)).toEqual(pids);
    },
    120_000,
  );
});
