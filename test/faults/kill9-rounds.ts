import { setTimeout as pause } from 'node:timers/promises';
import { ApiClient, type Source } from '#test/harness/api-client.js';
import { Server } from '#test/harness/server.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { eventually } from '#test/harness/wait.js';
import { counterIsWhole, counterProblems, historyProblems, missingOf, problemsOf } from './kill9-checks.js';
import { type CutDisk } from './cut-disk.js';
import { COUNTER, GREATEST, RELAY, UNIQUE } from './kill9-components.js';
import { KillDeployer } from './kill9-deployer.js';
import { Gate, KillLoad } from './kill9-load.js';
import { randomOf } from './random.js';

export interface KillOptions {
  readonly rounds: number;
  /** The same seed gives the same kill times. */
  readonly seed: number;
  readonly say: (line: string) => void;
  /** The server's disk, whose power is cut at each kill. Default: a folder, which keeps what was written. */
  readonly disk?: CutDisk;
}

export interface KillReport {
  readonly kills: number;
  readonly sent: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly delivered: number;
  readonly duplicates: number;
  readonly sourcesDeployed: number;
  /** Empty when every rule held. */
  readonly problems: readonly string[];
}

const SHORTEST_LOAD_MS = 200;
const LONGEST_LOAD_MS = 1_500;
const LONGEST_START_MS = 700;
const DELIVERY_TIMEOUT_MS = 90_000;
/** An id above those of the load. */
const BARRIER = 1_000_000_000;

/**
 * Puts load on four sources and on the API, kills the server with -9 at random times, and checks the results at the
 * end.
 */
export const runKillRounds = async (options: KillOptions): Promise<KillReport> => {
  const { disk } = options;
  const server = new Server({ ...(disk && { dataDir: disk.dataDir }) });
  const api = new ApiClient(server);
  const receiver = await WebhookReceiver.start();
  const gate = new Gate();
  const load = new KillLoad(server, gate);
  try {
    await server.start();
    return await killAndCheck(options, { server, api, receiver, gate, load });
  } catch (error) {
    throw new Error(`kill rounds failed; last output of the server:\n${server.lastOutput.slice(-4_000)}`, {
      cause: error,
    });
  } finally {
    await load.close();
    await api.close();
    await server.close();
    await receiver.close();
  }
};

interface Scene {
  readonly server: Server;
  readonly api: ApiClient;
  readonly receiver: WebhookReceiver;
  readonly gate: Gate;
  readonly load: KillLoad;
}

const killAndCheck = async (options: KillOptions, scene: Scene): Promise<KillReport> => {
  const { server, api, receiver, gate, load } = scene;
  const sources = await deployAll(scene);
  const deployer = new KillDeployer(server, api, gate);
  load.start([
    { source: sources.relay, clients: 6, times: 1 },
    { source: sources.counter, clients: 3, times: 1 },
    { source: sources.unique, clients: 2, times: 2 },
    { source: sources.greatest, clients: 1, times: 1 },
  ]);
  deployer.start();
  const kills = await killRounds(options, scene);
  await Promise.all([load.stop(), deployer.stop()]);

  // A last event after all others shows how many runs the counter has had.
  await eventually('the last event is taken', async () =>
    (await load.post(sources.counter, BARRIER)) === 200 ? true : undefined,
  );
  const whole = (): boolean =>
    load.ledgers.every((ledger) => missingOf(receiver, ledger).length === 0) &&
    counterIsWhole(receiver, sources.counter, BARRIER);
  const late = await eventually(
    'everything acknowledged is delivered',
    () => (whole() ? [] : undefined),
    DELIVERY_TIMEOUT_MS,
    100,
  ).catch((error: unknown) => [String(error)]);
  const histories = await Promise.all(Object.values(sources).map((source) => historyProblems(api, source)));
  const problems = [
    ...late,
    ...problemsOf(receiver, load.ledgers),
    ...counterProblems(receiver, sources.counter),
    ...histories.flat(),
    ...(await deployer.problems()),
  ];
  const total = (of: (ledger: (typeof load.ledgers)[number]) => number): number =>
    load.ledgers.reduce((sum, ledger) => sum + of(ledger), 0);
  return {
    kills,
    sent: total(({ sent }) => sent),
    acknowledged: total(({ acknowledged }) => acknowledged.size),
    refused: total(({ refused }) => refused),
    delivered: new Set(receiver.accepted.map(({ webhookId }) => webhookId)).size,
    duplicates: receiver.duplicates,
    sourcesDeployed: deployer.count,
    problems,
  };
};

const deployAll = async ({
  api,
  receiver,
}: Scene): Promise<Record<'relay' | 'counter' | 'unique' | 'greatest', Source>> => {
  const webhook = await api.createWebhook(receiver.url);
  receiver.trust(webhook.signing_key);
  const deploy = async (code: string): Promise<Source> => {
    const source = await api.createSource({ component_code: code });
    await api.subscribe(source.id, webhook.id);
    return source;
  };
  return {
    relay: await deploy(RELAY),
    counter: await deploy(COUNTER),
    unique: await deploy(UNIQUE),
    greatest: await deploy(GREATEST),
  };
};

/** Resolves with the number of kills, with the server up and the gate open. */
const killRounds = async ({ rounds, seed, say, disk }: KillOptions, scene: Scene): Promise<number> => {
  const { server, gate, load, receiver } = scene;
  const random = randomOf(seed);
  let kills = 0;
  const kill = async (): Promise<void> => {
    await server.kill9();
    disk?.cut();
    kills++;
  };
  for (let round = 1; round <= rounds; round++) {
    gate.open();
    await pause(SHORTEST_LOAD_MS + random() * (LONGEST_LOAD_MS - SHORTEST_LOAD_MS));
    gate.shut();
    await kill();
    // Sometimes kills the next start too, in the middle of recovery.
    if (random() < 0.3) {
      server.launch();
      await pause(random() * LONGEST_START_MS);
      await kill();
    }
    await server.start();
    const acknowledged = load.ledgers.reduce((sum, ledger) => sum + ledger.acknowledged.size, 0);
    say(
      `round ${round}: ready again after ${Math.round(server.readyMs)} ms; ${acknowledged} acknowledged so far, ` +
        `${receivedCount(receiver)} received`,
    );
  }
  gate.open();
  return kills;
};

const receivedCount = (receiver: WebhookReceiver): number => receiver.received.length;
