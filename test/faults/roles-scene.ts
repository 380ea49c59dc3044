import { ApiClient, type Source } from '#test/harness/api-client.js';
import { Deployment, type EngineAddresses, type RoleName, ROLES } from '#test/harness/deployment.js';
import { eventually } from '#test/harness/wait.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { CHAIN, COUNTER, GREATEST, RELAY, START, TICKER, UNIQUE } from './kill9-components.js';
import { KillDeployer } from './kill9-deployer.js';
import { Gate, KillLoad } from './kill9-load.js';

const DEPLOYED_MS = 120_000;

export interface SceneSources {
  readonly relay: Source;
  readonly chain: Source;
  readonly counter: Source;
  readonly unique: Source;
  readonly greatest: Source;
  readonly ticker: Source;
}

/** An installation by role with sources, listeners and prepared load. */
export interface RolesScene {
  readonly deployment: Deployment;
  readonly api: ApiClient;
  readonly receiver: WebhookReceiver;
  readonly gate: Gate;
  readonly load: KillLoad;
  readonly deployer: KillDeployer;
  readonly sources: SceneSources;
  readonly webhookId: string;
}

export interface SceneOptions {
  readonly engines: EngineAddresses;
  /** Number of processes per role. */
  readonly copies: number | Readonly<Record<RoleName, number>>;
  /** Settings of every process, in addition to those of the scene. */
  readonly env?: Readonly<Record<string, string>>;
  /** Pause between two deployments. Default: none. */
  readonly deployEveryMs?: number;
  /** Sources of the deployer above which the oldest is deleted. Default: no limit. */
  readonly keep?: number;
  /** Called before the processes start, for what each of them needs. */
  readonly prepare?: (deployment: Deployment) => Promise<void>;
}

/** Sets up the scene, runs the test, and cleans up. A failure includes the last output of the processes. */
export const onRolesScene = async <T>(
  { engines, copies, env, deployEveryMs, keep, prepare }: SceneOptions,
  play: (scene: RolesScene) => Promise<T>,
): Promise<T> => {
  const deployment = new Deployment({
    engines,
    copies: typeof copies === 'number' ? Object.fromEntries(ROLES.map((role) => [role, copies])) : copies,
    env: { SLUICE_EVENTS_KEPT: '200', ...env },
  });
  const api = new ApiClient(deployment);
  const gate = new Gate();
  const load = new KillLoad(deployment, gate);
  const receiver = await WebhookReceiver.start();
  let failure: Error | undefined;
  try {
    await prepare?.(deployment);
    await deployment.start();
    const webhook = await api.createWebhook(receiver.url);
    receiver.trust(webhook.signing_key);
    const sources = await deployAll(api, webhook.id);
    const deployer = new KillDeployer(deployment, api, gate, {
      ...(deployEveryMs === undefined ? {} : { pauseMs: deployEveryMs }),
      ...(keep === undefined ? {} : { keep }),
    });
    return await play({ deployment, api, receiver, gate, load, deployer, sources, webhookId: webhook.id });
  } catch (error) {
    failure = new Error(`failed; last output of each process:\n${lastLines(deployment)}`, { cause: error });
    throw failure;
  } finally {
    await load.close();
    await api.close();
    // Processes that do not end in order are a failure of their own, unless another one is known.
    await deployment.close().catch((error: unknown) => {
      throw failure ?? error;
    });
    await receiver.close();
  }
};

const lastLines = ({ processes }: Deployment): string =>
  ROLES.flatMap((role) =>
    processes[role].map((server, n) => `— ${role} ${n + 1}\n${server.lastOutput.slice(-1_500)}`),
  ).join('\n');

const deployAll = async (api: ApiClient, webhookId: string): Promise<SceneSources> => {
  const deploy = async (code: string): Promise<Source> => {
    // The first build on a busy machine may exceed its time.
    const source = await eventually('a source', () => api.createSource({ component_code: code }), DEPLOYED_MS, 1_000);
    await api.subscribe(source.id, webhookId);
    return source;
  };
  const relay = await deploy(RELAY);
  const chain = await deploy(CHAIN);
  await api.subscribe(relay.id, chain.id);
  const ticker = await deploy(TICKER);
  await api.runNow(ticker.id, { timestamp: START });
  return {
    relay,
    chain,
    counter: await deploy(COUNTER),
    unique: await deploy(UNIQUE),
    greatest: await deploy(GREATEST),
    ticker,
  };
};
