import { afterEach } from '@jest/globals';
import request from 'supertest';
import { enginesForEach } from '#libs/engines/embedded/testing/engines-for-each.js';
import { systemClock } from '#libs/kernel/clock.js';
import { noStreams } from '#libs/event-streams/testing/no-streams.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { itemsOf } from '#libs/http/testing/replies.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type RunReplay } from '#libs/workflow-runs/replay-start.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { type SteeringAnswer } from '#libs/workflow-runs/run-steering.js';
import { ab } from '#libs/workflow-runs/testing/run-changes.js';
import { arrive, origin, stateOf } from '#libs/workflow-runs/testing/run-samples.js';
import { type RunCancels, type RunSteering, type ShownWorkflow, type WorkflowInvokes } from '../ports.js';
import { recordRuns } from '../record-runs.js';
import { bulkReplayCommands } from './bulk-replay-commands.js';
import { WorkflowHistoryModule } from '../workflow-history.module.js';

const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });

export const LIVE = { active: true, settings: { timeoutSeconds: null }, draft: null };

/**
 * The API of runs over embedded engines, opened by each call and closed after each test. The user of its key is in
 * workspace o_1, and p_gone is deleted.
 */
export const useWorld = () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const engines = enginesForEach('run-history');
  return () => openWorld(engines, closing);
};

/** Workflows and what runs them, with what they were asked for. */
const fakePorts = () => {
  const workflows = new Map<string, ShownWorkflow>([
    ['p_1', { id: 'p_1', workspaceId: 'o_1', name: 'Orders', deploymentId: 'd_1', ...LIVE }],
    ['p_2', { id: 'p_2', workspaceId: 'o_1', name: 'Mails', deploymentId: 'd_2', ...LIVE }],
    ['p_other', { id: 'p_other', workspaceId: 'o_2', name: 'Secret', deploymentId: 'd_3', ...LIVE }],
  ]);
  const runnableWorkflows = {
    find: (id: string) => workflows.get(id),
    idOfExternal: (externalId: string, workspaceId: string) =>
      workspaceId === 'o_1' && externalId === 'orders' ? 'p_1' : undefined,
    version: async (_: string, deploymentId: string) => (deploymentId === 'd_1' ? ab : undefined),
  };
  const asked: object[] = [];
  /** What the runner does with a request. */
  const runner = { answers: async (): Promise<SteeringAnswer> => ({ result: 'unknown', version: 0 }) };
  const runSteering: RunSteering = {
    steer: (request) => {
      asked.push(request);
      return runner.answers();
    },
  };
  /** What callers of runs get. */
  const answers = { answered: Promise.resolve() };
  const invoked: Parameters<WorkflowInvokes['invoke']>[0][] = [];
  const replayed: RunReplay[] = [];
  /** Of each replay. */
  const repeatIds: (string | undefined)[] = [];
  /** What happens to the next requests after their event is durable. */
  const failures: (() => Promise<void>)[] = [];
  const workflowInvokes: WorkflowInvokes = {
    invoke: async (call) => {
      invoked.push(call);
      await failures.shift()?.();
      return {
        run: stateOf(ab, arrive({ origin: { ...origin, id: 'run_9', ownerId: 'o_1' } })),
        answered: answers.answered,
      };
    },
    replay: async (begins, repeatId) => {
      replayed.push(begins);
      repeatIds.push(repeatId);
      await failures.shift()?.();
      const begun = { ...begins.origin, id: 'run_9', keyRun: 'run_9', arrivedAt: 9 };
      return stateOf(ab, arrive({ origin: begun, event: begins.event, reused: begins.reused }));
    },
  };
  const cancels: Parameters<RunCancels['cancelRuns']>[0][] = [];
  const workflowTopics: RunCancels = { cancelRuns: async (request) => void cancels.push(request) };
  return {
    ports: { runnableWorkflows, runSteering, workflowInvokes, workflowTopics },
    answers,
    asked,
    cancels,
    failures,
    invoked,
    repeatIds,
    replayed,
    runner,
    workflows,
  };
};

const openWorld = async (engines: ReturnType<typeof enginesForEach>, closing: (() => Promise<void>)[]) => {
  const { log, runHistory, blobs } = await engines.open();
  const { bulkReplays, handleCommand } = bulkReplayCommands();
  const { ports, ...seen } = fakePorts();
  for (const id of ['p_1', 'p_2', 'p_other', 'p_gone'])
    for (const { topic, retention } of topics.ownedBy(id)) await log.createTopic(topic, retention);
  const said: string[] = [];
  const runs = await recordRuns({
    log,
    runHistory,
    workflows: { find: () => undefined, all: () => [] },
    kept: { runs: 9, days: 9, workspaceBytes: 1e9 },
    clock: { now: () => 0 },
    logger: { error: (_, text) => void said.push(text) },
  });
  const app = await httpTestApp({
    imports: [
      WorkflowHistoryModule.forRoot({
        runHistory,
        eventStreams: noStreams(log),
        log,
        topics,
        clock: systemClock,
        blobs,
        bulkReplays,
        handleCommand,
        ...ports,
      }),
    ],
  });
  closing.push(
    () => runs.close(),
    () => app.close(),
  );
  const call = (method: 'get' | 'delete' | 'post', path: string) =>
    request(app.getHttpServer())[method](path).set('Authorization', 'Bearer test-key');
  const publish = (value: string, workflowId = 'p_1') =>
    log.publish([{ topic: topics.runs(workflowId), key: workflowId, headers: {}, value }]);
  const happened = async (...changes: readonly RunChange[]): Promise<void> => {
    for (const change of changes) await publish(JSON.stringify(change), change.workflowId);
    const last = changes.at(-1);
    for (;;) {
      const found = last && (await runHistory.find(last.runId));
      if (JSON.stringify(found?.state.head) === JSON.stringify(last?.head)) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  const idsOf = async (path: string): Promise<unknown[]> => itemsOf(await call('get', path)).map((item) => item['id']);
  return { ...seen, blobs, bulkReplays, call, happened, idsOf, publish, said };
};

export const run = (n: number, more: object = {}) => ({
  id: `run_${n}`,
  arrivedAt: 1_700_000_000_000 + n * 1_000,
  ...more,
});
