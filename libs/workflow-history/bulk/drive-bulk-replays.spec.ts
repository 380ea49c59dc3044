import { afterEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { repeatedRunId } from '#libs/stream-log/invocations.js';
import { type RunReplay } from '#libs/workflow-runs/replay-start.js';
import { ab } from '#libs/workflow-runs/testing/run-changes.js';
import { arrive, fail, origin, start, stateOf } from '#libs/workflow-runs/testing/run-samples.js';
import { arrivedRun, type ListedRun } from '../run-history.js';
import { bulkReplayCommands } from '../testing/bulk-replay-commands.js';
import { LIVE } from '../testing/history-world.js';
import { bulkReplay } from './bulk-replay.js';
import { driveBulkReplays } from './drive-bulk-replays.js';

const contextOf = (commandId: string): CommandContext => ({
  commandId,
  correlationId: commandId,
  causationId: commandId,
  actor: { userId: 'u_1', apiKeyId: null },
  workspaceId: 'o_1',
});

const failedRun = (id: string): ListedRun =>
  arrivedRun(stateOf(ab, arrive({ origin: { ...origin, id, workflowId: 'p_1' } }), start(2), fail(3, 1, 'E_X')));

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** What survives a process: the log, the history, the blobs, and what the runner got. */
const installation = async (runs: readonly string[], rate = 100) => {
  const { bulkReplays, handleCommand } = bulkReplayCommands();
  const history = new Map(runs.map((id) => [id, failedRun(id)]));
  const blobs = new Map([['h', JSON.stringify({ id: 'rpl_1', runs })]]);
  const workflow = { id: 'p_1', workspaceId: 'o_1', name: 'w', deploymentId: 'd_1', ...LIVE };
  const workflows = new Map([['p_1', workflow]]);
  const replayed: { readonly of: string; readonly id: string; readonly by: string }[] = [];
  /** What happens to the next replays. */
  const failures: (Error | (() => Promise<void>))[] = [];
  const said: string[] = [];
  const process = () => {
    const work = driveBulkReplays({
      runHistory: { find: async (id) => history.get(id), whole: async (id) => history.get(id) },
      workflows: { find: (id) => workflows.get(id), idOfExternal: () => undefined, version: async () => ab },
      invokes: {
        replay: async ({ origin: of }: RunReplay, repeatId) => {
          const next = failures.shift();
          if (next instanceof Error) throw next;
          await next?.();
          const id = repeatedRunId('p_1', repeatId ?? '');
          replayed.push({ of: of.replayOf ?? '', id, by: of.replayedBy?.userId ?? '' });
          return failedRun(id).state;
        },
      },
      replays: bulkReplays,
      blobs: { get: async (hash) => blobs.get(hash), delete: async (hash) => void blobs.delete(hash) },
      handleCommand,
      clock: { now: () => Date.now() },
      logger: { warn: (_, text) => void said.push(text), error: (_, text) => void said.push(text) },
    });
    stops.push(() => work.stop());
    return work;
  };
  const request = {
    workflowId: 'p_1',
    runsHash: 'h',
    matched: runs.length,
    from: 'start',
    version: 'current',
    rate,
  } as const;
  await handleCommand(bulkReplay, 'rpl_1', { type: 'start', request, now: 1 }, contextOf('start'));
  const known = () => bulkReplays.find('rpl_1')?.replay;
  const until = async (condition: () => boolean): Promise<void> => {
    for (let turns = 0; turns < 2_000 && !condition(); turns++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(condition()).toBe(true);
  };
  const cancel = () =>
    handleCommand(bulkReplay, 'rpl_1', { type: 'end', outcome: 'cancelled', now: Date.now() }, contextOf('cancel'));
  return { blobs, cancel, failures, history, known, process, replayed, said, until, workflows };
};

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `run_${n + 1}`);

// docs/reference/workflows.md#bulk-replay
describe('the process that replays in bulk', () => {
  it('replays each run once, in order, for the user who asked', async () => {
    const { blobs, known, process, replayed, until } = await installation(ids(5));
    process();
    await until(() => known()?.state === 'finished');
    expect(replayed.map(({ of, by }) => [of, by])).toEqual(ids(5).map((id) => [id, 'u_1']));
    expect(known()).toMatchObject({ next: 5, started: 5, passedOver: 0 });
    expect(blobs.size).toBe(0);
  });

  it('passes over a run that is gone or cannot be replayed any more', async () => {
    const { failures, history, known, process, replayed, until } = await installation(ids(4));
    history.delete('run_1');
    history.set('run_2', { ...failedRun('run_2'), workflowId: 'p_2' });
    failures.push(new DomainError('request.too_large', 'too large'));
    process();
    await until(() => known()?.state === 'finished');
    expect(replayed.map(({ of }) => of)).toEqual(['run_4']);
    expect(known()).toMatchObject({ started: 1, passedOver: 3 });
  });

  it('goes on where another process died, and begins no run again that the history has', async () => {
    const world = await installation(ids(6));
    const dies = (): Promise<void> => new Promise(() => undefined);
    world.failures.push(
      async () => undefined,
      async () => undefined,
      dies,
    );
    world.process();
    await world.until(() => world.replayed.length === 2 && world.failures.length === 0);
    // The first process hangs in its third replay. Its progress is in the log, and so is what it began in the history.
    for (const { id } of world.replayed) world.history.set(id, failedRun(id));
    stops.length = 0;
    world.process();
    await world.until(() => world.known()?.state === 'finished');
    expect(world.replayed.map(({ of }) => of)).toEqual(ids(6));
  });

  it('uses the same id when it repeats a replay that it did not know of', async () => {
    const world = await installation(ids(1));
    world.failures.push(async () => {
      world.replayed.push({ of: 'run_1', id: repeatedRunId('p_1', 'rpl_1/run_1'), by: 'first' });
      throw new Error('the answer was lost');
    });
    world.process();
    await world.until(() => world.known()?.state === 'finished');
    expect(new Set(world.replayed.map(({ id }) => id)).size).toBe(1);
    expect(world.said).toEqual(['bulk_replay.waits']);
  });

  it('waits while the workflow is inactive or takes no more, and then goes on', async () => {
    const { failures, known, process, replayed, until, workflows } = await installation(ids(2));
    const live = workflows.get('p_1');
    if (!live) throw new Error('no workflow');
    workflows.set('p_1', { ...live, active: false });
    failures.push(new DomainError('source.overloaded', 'too much'));
    process();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([replayed.length, known()?.state]).toEqual([0, 'running']);
    workflows.set('p_1', live);
    await until(() => known()?.state === 'finished');
    expect(known()).toMatchObject({ started: 2, passedOver: 0 });
  });

  it('stops at a cancellation, and counts what it began until then', async () => {
    const { cancel, known, process, replayed, until } = await installation(ids(1_000), 50);
    const work = process();
    await until(() => replayed.length >= 3);
    await cancel();
    await work.stop();
    expect(known()).toMatchObject({ state: 'cancelled', started: replayed.length });
    expect(replayed.length).toBeLessThan(1_000);
  });

  it('ends when the workflow is deleted', async () => {
    const { known, process, until, workflows } = await installation(ids(3));
    workflows.clear();
    process();
    await until(() => known()?.state === 'cancelled');
  });

  it('tells of its progress when it ends, so that the next process begins there', async () => {
    const { known, process, replayed, until } = await installation(ids(1_000), 50);
    const work = process();
    await until(() => replayed.length >= 3);
    await work.stop();
    expect(known()).toMatchObject({ state: 'running', next: replayed.length, started: replayed.length });
  });
});
