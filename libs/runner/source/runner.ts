import { newId } from '#libs/kernel/ids.js';
import { type HookOutcome, type HookRunner } from '#libs/sources/published.js';
import { invocationHeaders } from '#libs/stream-log/envelopes.js';
import { type Consumer, type LaneBatch, REVOKE_MS } from '#libs/stream-log/stream-log.js';
import { INVOCATIONS } from '#libs/stream-log/topics.js';
import { LoadedExecutables } from '../loaded-executables.js';
import { SourceRunner } from './source-runner.js';
import { type Invocation } from '../invocation.js';
import { type RunnerDependencies } from '../runner-ports.js';

export interface Runner extends HookRunner {
  /** Number of unacknowledged invocations. */
  backlog(): number;
  unreadBytesOf(lane: string): number;
  /** Number of unacknowledged invocations of one source; 0 where sources share their lanes. */
  waitingFor(sourceId: string): number;
  /** Writes a line of the platform to the source's `$logs`. Does nothing when the source is not loaded. */
  note(sourceId: string, text: string): Promise<void>;
  /** Ends the process of a deleted source and forgets its state in memory. */
  forget(sourceId: string): Promise<void>;
  /** Starts no more runs and waits for those in flight, at most `withinMs`. The log redelivers the others. */
  close(withinMs?: number): Promise<void>;
}

const MAX_BATCH = 64;
const MAX_UNACKED = 512;
/** Time for runs to end after a revocation. The rest of the log's grace period is for ending the sandboxes. */
const RELEASE_MS = REVOKE_MS - 2_000;

/** Starts the role `runner`, steps 2 and 3 of the path of an event (docs/architecture.md). */
export const startRunner = async (deps: RunnerDependencies): Promise<Runner> => {
  const sources = new LoadedExecutables({
    load: (sourceId, onConflict) => SourceRunner.load(sourceId, deps, onConflict),
    endProcess: (sourceId) => deps.sandboxes.drop(sourceId),
    metrics: deps.metrics,
    logger: deps.logger,
  });
  const laneOf = new Map<string, string>();

  const consumer: Consumer = await deps.log.consume(
    deps.handedOver.counting({
      group: 'runner',
      topics: { prefix: INVOCATIONS },
      maxBatch: MAX_BATCH,
      maxUnacked: MAX_UNACKED,
      async handler(batch): Promise<void> {
        const revoked = (): boolean => batch.revoked();
        const groups = bySource(batch);
        for (const sourceId of groups.keys()) laneOf.set(sourceId, batch.lane);
        await Promise.all([...groups].map(([sourceId, group]) => sources.accept(sourceId, group, revoked)));
      },
      async onRevoked(lane): Promise<void> {
        const moved = [...laneOf].filter(([, of]) => of === lane).map(([sourceId]) => sourceId);
        for (const sourceId of moved) laneOf.delete(sourceId);
        await Promise.all(moved.map((sourceId) => sources.release(sourceId, RELEASE_MS)));
      },
    }),
  );

  return {
    backlog: () => consumer.backlog(),
    unreadBytesOf: (lane) => consumer.unreadBytesOf(lane),
    waitingFor: (sourceId) =>
      deps.topics.ownedBy(sourceId).length > 0 ? consumer.backlogOf(deps.topics.invocations(sourceId)) : 0,

    async runHook({ sourceId, workspaceId, definition, hook }): Promise<HookOutcome> {
      const runner = await sources.open(sourceId);
      const outcome = await runner.hook(hook, definition, workspaceId, newId('inv', deps.clock.now()));
      const { status, error, logs } = outcome;
      return error ? { status, error, logs } : { status, logs };
    },

    async operationEnded(sourceId): Promise<void> {
      (await sources.loaded(sourceId))?.operationEnded();
    },

    async note(sourceId, text): Promise<void> {
      (await sources.loaded(sourceId))?.note(newId('inv', deps.clock.now()), text);
    },

    async forget(sourceId): Promise<void> {
      laneOf.delete(sourceId);
      await sources.release(sourceId);
      await deps.sandboxes.drop(sourceId);
    },

    async close(withinMs): Promise<void> {
      // Releases the lanes last. Until then no other process runs these sources, and finished runs are acknowledged.
      await sources.close(withinMs);
      await consumer.close();
    },
  };
};

/** Groups a batch by source, because a lane of shared topics has many. Each source keeps its order. */
const bySource = (batch: LaneBatch): ReadonlyMap<string, readonly Invocation[]> => {
  const groups = new Map<string, Invocation[]>();
  for (const record of batch.records) {
    const headers = invocationHeaders(record);
    const invocation = {
      record,
      end: batch.end,
      headers,
      ack: () => batch.ack(record.offset),
      revoked: () => batch.revoked(),
    };
    const group = groups.get(headers.source);
    if (group) group.push(invocation);
    else groups.set(headers.source, [invocation]);
  }
  return groups;
};
