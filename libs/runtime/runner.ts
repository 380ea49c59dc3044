import { newId } from '../kernel/ids.js';
import { type HookOutcome, type HookRunner } from '../sources/published.js';
import { type InvocationHeaders } from '../stream-log/envelopes.js';
import { type Consumer, type LaneBatch } from '../stream-log/stream-log.js';
import { INVOCATIONS } from '../stream-log/topics.js';
import { type RunnerDependencies } from './runner-ports.js';
import { SourceRunner } from './source-runner.js';

export interface Runner extends HookRunner {
  /** Invocations accepted and not yet done. */
  backlog(): number;
  backlogOf(sourceId: string): number;
  /** The source is gone: its process is ended, its state in memory forgotten. */
  forget(sourceId: string): Promise<void>;
  close(): Promise<void>;
}

const MAX_BATCH = 64;
const MAX_UNACKED = 512;
const MAX_LOADED = 1_000;

/** Role `runner`: step 2 of the path of an event (docs/architecture.md). */
export const startRunner = async (deps: RunnerDependencies): Promise<Runner> => {
  const loaded = new Map<string, Promise<SourceRunner>>();

  const runnerOf = (sourceId: string): Promise<SourceRunner> => {
    let runner = loaded.get(sourceId);
    if (runner) return runner;
    runner = SourceRunner.load(sourceId, deps);
    loaded.set(sourceId, runner);
    runner.catch(() => loaded.delete(sourceId));
    if (loaded.size > MAX_LOADED) void evictIdle(loaded, sourceId);
    return runner;
  };

  const handler = async (batch: LaneBatch): Promise<void> => {
    const sourceId = (batch.records[0]?.headers as InvocationHeaders).source;
    const runner = await runnerOf(sourceId);
    await runner.accept(
      batch.records.map((record) => ({
        record,
        headers: record.headers as InvocationHeaders,
        ack: () => batch.ack(record.offset),
      })),
    );
  };

  const consumer: Consumer = await deps.log.consume({
    group: 'runner',
    topics: { prefix: INVOCATIONS },
    maxBatch: MAX_BATCH,
    maxUnacked: MAX_UNACKED,
    handler,
  });

  return {
    backlog: () => consumer.backlog(),
    backlogOf: (sourceId) => consumer.backlogOf(deps.topics.invocations(sourceId)),

    async runHook({ sourceId, workspaceId, definition, hook }): Promise<HookOutcome> {
      const runner = await runnerOf(sourceId);
      const outcome = await runner.hook(hook, definition, workspaceId, newId('inv', deps.clock.now()));
      const { status, error, logs } = outcome;
      return error ? { status, error, logs } : { status, logs };
    },

    async settled(sourceId): Promise<void> {
      (await loaded.get(sourceId))?.settled();
    },

    async forget(sourceId): Promise<void> {
      const runner = loaded.get(sourceId);
      loaded.delete(sourceId);
      await (await runner)?.close();
      await deps.sandboxes.drop(sourceId);
    },

    async close(): Promise<void> {
      const closing = consumer.close();
      await Promise.all([...loaded.values()].map(async (runner) => (await runner).close()));
      await closing;
    },
  };
};

/** State of sources that rest is read again when they wake. */
const evictIdle = async (loaded: Map<string, Promise<SourceRunner>>, except: string): Promise<void> => {
  for (const [sourceId, runner] of [...loaded]) {
    if (loaded.size <= MAX_LOADED) return;
    if (sourceId !== except && (await runner).idle()) loaded.delete(sourceId);
  }
};
