import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { deployedSource, sourceInactive, sourceNotFound } from '../domain/source.js';
import { MANUAL_RUNS, type ManualRun, type ManualRuns } from '../ports.js';
import { SourceOperations } from '../source-operations.js';

export class RunSource extends Command<ManualRun> {
  constructor(
    readonly sourceId: string,
    readonly workspaceId: string,
    /** Undefined means the event that the source's timer would send. */
    readonly event: unknown,
    readonly wait: boolean,
  ) {
    super();
  }
}

/** Runs a source once, outside its schedule. Throws source.not_found, source.inactive. */
@CommandHandler(RunSource)
export class RunSourceHandler implements ICommandHandler<RunSource> {
  constructor(
    private readonly operations: SourceOperations,
    @Inject(MANUAL_RUNS) private readonly runs: ManualRuns,
  ) {}

  async execute({ sourceId, workspaceId, event, wait }: RunSource): Promise<ManualRun> {
    const source = deployedSource(await this.operations.stateOf(sourceId, workspaceId));
    if (!source) throw sourceNotFound(sourceId);
    if (!source.active) throw sourceInactive(sourceId);
    return this.runs.run(sourceId, workspaceId, event, wait);
  }
}
