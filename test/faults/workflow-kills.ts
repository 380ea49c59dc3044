import { setTimeout as pause } from 'node:timers/promises';
import { ApiClient } from '#test/harness/api-client.js';
import { type TestServer } from '#test/harness/server.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { EffectSink } from './effect-sink.js';
import { randomOf } from './random.js';
import { WorkflowKillScene, type WorkflowKillReport } from './workflow-kill-scene.js';

/** An installation whose processes the test kills. */
export interface KillTarget {
  readonly server: TestServer;
  /** Bounds of the time between two kills. Default: 300 to 2,500. */
  readonly loadMs?: readonly [shortest: number, longest: number];
  /** Kills processes with -9 and starts them again. Resolves with their number once all are ready. */
  kill(random: () => number): Promise<number>;
}

export interface WorkflowKillOptions {
  readonly rounds: number;
  /** Unfinished runs that the load keeps up. */
  readonly inFlight: number;
  /** The same seed gives the same kill times. */
  readonly seed: number;
  readonly say: (line: string) => void;
}

const LOAD_MS = [300, 2_500] as const;

/**
 * Keeps runs of three workflows in flight and calls the tool of a fourth, begins a bulk replay in each round, kills at random
 * times, and checks each run at the end: that it ended once, that no stored outcome changed, that a repeated side effect has
 * the key of the first, that each chosen run was replayed once, and that each call of the tool began one run.
 */
export const runWorkflowKills = async (
  target: KillTarget,
  options: WorkflowKillOptions,
): Promise<WorkflowKillReport> => {
  const { server } = target;
  const api = new ApiClient(server);
  const receiver = await WebhookReceiver.start();
  const sink = await EffectSink.start();
  let scene: WorkflowKillScene | undefined;
  try {
    await server.start();
    scene = await WorkflowKillScene.of({ server, api, receiver, sink }, options.inFlight);
    return await killAndCheck(target, options, scene);
  } catch (error) {
    throw new Error(`kill rounds failed; last output of the server:\n${server.lastOutput.slice(-4_000)}`, {
      cause: error,
    });
  } finally {
    scene?.abandon();
    await api.close();
    await server.close();
    await receiver.close();
    await sink.close();
  }
};

const killAndCheck = async (
  target: KillTarget,
  { rounds, seed, say }: WorkflowKillOptions,
  scene: WorkflowKillScene,
): Promise<WorkflowKillReport> => {
  const random = randomOf(seed);
  const [shortest, longest] = target.loadMs ?? LOAD_MS;
  let kills = 0;
  scene.start();
  for (let round = 1; round <= rounds; round++) {
    scene.gate.open();
    scene.beginBulkReplay();
    await pause(shortest + random() * (longest - shortest));
    scene.gate.shut();
    const inFlight = scene.unfinished;
    kills += await target.kill(random);
    say(`round ${round}: ${inFlight} runs were in flight; ${scene.acknowledged.size} begun so far, up again`);
  }
  scene.gate.open();
  await scene.stop();
  return scene.report(kills);
};
