import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { Semaphore } from '#libs/async/semaphore.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type RunningWork } from '#libs/kernel/leased-work.js';
import { systemContext } from '#libs/kernel/system-context.js';
import { repeatedRunId } from '#libs/stream-log/invocations.js';
import { type RunnableWorkflows, type WorkflowInvokes } from '../ports.js';
import { beginReplay } from '../replay-run/begin-replay.js';
import { type RunHistory } from '../run-history.js';
import { bulkReplay, type BulkReplayCommand } from './bulk-replay.js';
import { type BulkReplayProgress } from '../published.js';
import { type BulkReplaysView, type KnownBulkReplay } from './bulk-replays-view.js';

export interface BulkReplayPorts {
  readonly runHistory: Pick<RunHistory, 'find' | 'whole'>;
  readonly workflows: RunnableWorkflows;
  readonly invokes: Pick<WorkflowInvokes, 'replay'>;
  readonly replays: BulkReplaysView;
  readonly blobs: Pick<BlobStore, 'get' | 'delete'>;
  readonly handleCommand: HandleCommand;
  readonly clock: Clock;
  readonly logger: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
}

const LOOK_MS = 250;
/** Whole runs that are read at once, and those of one workspace. */
const READS = 8;
const READS_PER_WORKSPACE = 2;
/** Parts of the whole after which the progress is stored. A crash repeats less than one, without a second run. */
const TOLD = 100;

/**
 * Replays the runs of all bulk replays that run, each at its rate. For one process at a time. Another that has not noticed
 * that it lost the work starts no run twice, because a repeated replay has the same id.
 */
export const driveBulkReplays = (ports: BulkReplayPorts): RunningWork => {
  const { replays, logger } = ports;
  const closing = new AbortController();
  const { signal } = closing;
  const reads = new Semaphore(READS, () => READS_PER_WORKSPACE);
  const driven = new Map<string, Promise<void>>();
  const drive = async (known: KnownBulkReplay): Promise<void> => {
    try {
      await new DrivenReplay(ports, known, reads, signal).run();
    } catch (error) {
      logger.error({ replay: known.id, error: messageOf(error) }, 'bulk_replay.failed: tried again');
      await pause(LOOK_MS * 4, signal);
    }
    driven.delete(known.id);
  };
  const looking = (async () => {
    while (!signal.aborted) {
      for (const known of replays.running()) if (!driven.has(known.id)) driven.set(known.id, drive(known));
      await pause(LOOK_MS, signal, { ref: false });
    }
  })();
  return {
    stop: async () => {
      closing.abort();
      await looking;
      await Promise.all(driven.values());
    },
  };
};

type Attempt = 'started' | 'passed over' | 'later' | 'workflow gone';

class DrivenReplay {
  private progress: BulkReplayProgress;
  /** As the event log has it. */
  private told: number;
  private readonly backoff = new Backoff({ firstMs: 500, longestMs: 30_000 });

  constructor(
    private readonly ports: BulkReplayPorts,
    private readonly known: KnownBulkReplay,
    private readonly reads: Semaphore,
    private readonly signal: AbortSignal,
  ) {
    const { next, started, passedOver } = known.replay;
    this.progress = { next, started, passedOver };
    this.told = next;
  }

  async run(): Promise<void> {
    const { blobs, logger } = this.ports;
    const { id, replay } = this.known;
    const text = await blobs.get(replay.runsHash);
    if (text === undefined) {
      if (this.isRunning()) logger.error({ replay: id }, 'bulk_replay.list_missing: it ends here');
      return this.decide({ type: 'end', outcome: 'finished', now: this.ports.clock.now() });
    }
    const { runs } = JSON.parse(text) as { readonly runs: readonly string[] };
    const end = await this.replayAll(runs);
    await this.tell();
    if (end === undefined) return;
    await this.decide({ type: 'end', outcome: end, now: this.ports.clock.now() });
    await blobs.delete(replay.runsHash);
  }

  /** Resolves with how it ends, or with undefined when another process goes on with it, or a user has cancelled it. */
  private async replayAll(runs: readonly string[]): Promise<'finished' | 'cancelled' | undefined> {
    const { clock } = this.ports;
    const { rate, matched } = this.known.replay;
    const part = Math.max(1, Math.ceil(matched / TOLD));
    let rhythm = { from: this.progress.next, at: clock.now() };
    for (;;) {
      const run = runs[this.progress.next];
      if (run === undefined) return 'finished';
      const dueAt = rhythm.at + ((this.progress.next - rhythm.from) * 1_000) / rate;
      await pause(Math.max(0, dueAt - clock.now()), this.signal);
      if (this.signal.aborted || !this.isRunning()) return undefined;
      const attempt = await this.reads.run(this.known.workspaceId, () => this.attempt(run));
      if (attempt === 'workflow gone') return 'cancelled';
      if (attempt === 'later') {
        await pause(this.backoff.next(), this.signal);
        rhythm = { from: this.progress.next, at: clock.now() };
        continue;
      }
      this.backoff.reset();
      // What was late is not made up for in a burst.
      if (clock.now() - dueAt > 1_000) rhythm = { from: this.progress.next, at: clock.now() };
      const { next, started, passedOver } = this.progress;
      this.progress = {
        next: next + 1,
        started: started + (attempt === 'started' ? 1 : 0),
        passedOver: passedOver + (attempt === 'started' ? 0 : 1),
      };
      if (this.progress.next - this.told >= part) await this.tell();
    }
  }

  private async attempt(runId: string): Promise<Attempt> {
    const { runHistory, workflows, invokes } = this.ports;
    const { id, by, replay } = this.known;
    const { workflowId, from, version } = replay;
    const repeatId = `${id}/${runId}`;
    // The runner knows repeats of the last 1,000 events only.
    if (await runHistory.find(repeatedRunId(workflowId, repeatId))) return 'started';
    const run = await runHistory.whole(runId);
    const workflow = workflows.find(workflowId);
    if (!workflow) return 'workflow gone';
    if (run?.workflowId !== workflowId) return 'passed over';
    const stepsOf = async (ofWorkflow: string, at: string | null) =>
      at === null ? [] : ((await workflows.version(ofWorkflow, at))?.steps ?? []);
    const { begins } = await beginReplay(stepsOf, run, workflow, { from, version, event: null, by });
    if ('refused' in begins) return begins.refused === 'inactive' ? 'later' : 'passed over';
    try {
      await invokes.replay(begins, repeatId);
      return 'started';
    } catch (error) {
      return this.afterFailure(error, runId);
    }
  }

  private afterFailure(error: unknown, run: string): Attempt {
    const { clock, logger } = this.ports;
    if (error instanceof DomainError && error.code === 'run.not_found') return 'workflow gone';
    if (error instanceof DomainError && error.code === 'request.too_large') return 'passed over';
    logger.warn({ replay: this.known.id, run, at: clock.now(), error: messageOf(error) }, 'bulk_replay.waits');
    return 'later';
  }

  private isRunning(): boolean {
    return this.ports.replays.find(this.known.id)?.replay.state === 'running';
  }

  private async tell(): Promise<void> {
    if (this.progress.next === this.told) return;
    await this.decide({ type: 'advance', progress: this.progress, now: this.ports.clock.now() });
    this.told = this.progress.next;
  }

  private async decide(command: BulkReplayCommand): Promise<void> {
    await this.ports.handleCommand(bulkReplay, this.known.id, command, systemContext(this.known.workspaceId));
  }
}
