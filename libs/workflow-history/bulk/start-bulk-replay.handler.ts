import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { derivedId, newId } from '#libs/kernel/ids.js';
import { mustHaveRoom } from '#libs/kernel/resource-limits.js';
import { BLOBS, CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { ENDED_STATUSES, originOf } from '#libs/workflow-runs/run-state.js';
import { BULK_REPLAYS, RUN_HISTORY, type ShownStep, type ShownWorkflow } from '../ports.js';
import { beginReplay } from '../replay-run/begin-replay.js';
import { type ListedRun, type RunHistory } from '../run-history.js';
import { ShownRuns } from '../shown-runs.js';
import { bulkReplay, ID_PREFIX } from './bulk-replay.js';
import { type BulkReplayRequest } from '../published.js';
import { type BulkReplaysView } from './bulk-replays-view.js';
import { type RunSelector, selectedRuns } from './run-selector.js';

/** Bulk replays of a workspace that run at once. */
export const MOST_BULK_REPLAYS = 5;

export interface StartedReplay {
  readonly id: string;
  readonly matched: number;
  readonly rate: number;
  readonly position: Position | undefined;
}

export class StartBulkReplay extends Command<StartedReplay> {
  constructor(
    readonly workflow: ShownWorkflow,
    readonly selector: RunSelector,
    readonly options: Pick<BulkReplayRequest, 'from' | 'version' | 'rate'>,
    /** The same for every repeat of the request, which starts one. */
    readonly repeatId: string | undefined,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Looks up which runs can be replayed, and stores their ids before the event. A crash between leaves a blob that nothing
 * refers to.
 */
@CommandHandler(StartBulkReplay)
export class StartBulkReplayHandler implements ICommandHandler<StartBulkReplay> {
  constructor(
    private readonly runs: ShownRuns,
    @Inject(RUN_HISTORY) private readonly history: RunHistory,
    @Inject(BULK_REPLAYS) private readonly replays: BulkReplaysView,
    @Inject(BLOBS) private readonly blobs: BlobStore,
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(command: StartBulkReplay): Promise<StartedReplay> {
    const { workflow, options, repeatId, context } = command;
    const { id: workflowId } = workflow;
    const now = this.clock.now();
    const id = repeatId === undefined ? newId(ID_PREFIX, now) : derivedId(ID_PREFIX, workflowId, repeatId);
    if (!this.replays.find(id))
      mustHaveRoom(this.replays.countRunning(context.workspaceId), {
        what: 'bulk replays that run',
        owner: 'workspace',
        limit: MOST_BULK_REPLAYS,
      });
    const runs = await this.replayable(command);
    if (runs.length === 0) throw nothingToReplay(workflowId);
    // With the id, so that no other blob has the same text.
    const runsHash = await this.blobs.put(JSON.stringify({ id, runs }));
    const request = { ...options, workflowId, runsHash, matched: runs.length };
    const { state, position } = await this.handleCommand(bulkReplay, id, { type: 'start', request, now }, context);
    return { id, matched: state?.matched ?? runs.length, rate: state?.rate ?? options.rate, position };
  }

  /** Ids of the selected runs that can be replayed, oldest first. */
  private async replayable({ workflow, selector, options, context }: StartBulkReplay): Promise<readonly string[]> {
    const { from, version } = options;
    const versions = new Map<string | null, Promise<readonly ShownStep[]>>();
    const stepsOf = (workflowId: string, at: string | null): Promise<readonly ShownStep[]> => {
      const known = versions.get(at) ?? this.runs.stepsOfVersion(workflowId, at);
      versions.set(at, known);
      return known;
    };
    const found: { readonly id: string; readonly arrivedAt: number }[] = [];
    for await (const run of selectedRuns(this.history, workflow.id, selector, ENDED_STATUSES)) {
      const { begins } = await beginReplay(stepsOf, run, workflow, { from, version, event: null, by: context.actor });
      if (!('refused' in begins)) found.push({ id: run.id, arrivedAt: arrivedAt(run) });
    }
    return found.sort((a, b) => a.arrivedAt - b.arrivedAt).map(({ id }) => id);
  }
}

const arrivedAt = ({ state }: ListedRun): number => originOf(state).arrivedAt;

const nothingToReplay = (id: string): DomainError =>
  new DomainError(
    'run.nothing_to_replay',
    `no selected run of workflow ${id} can be replayed so: they must have ended, and have an outcome of each step before from`,
    { id },
  );
