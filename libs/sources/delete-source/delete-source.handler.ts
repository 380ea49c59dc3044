import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { SourceOperations } from '../source-operations.js';
import { type Deleted, SourceDeletions } from './source-deletions.js';

export class DeleteSource extends Command<Deleted> {
  constructor(
    readonly sourceId: string,
    /** Deletes the source even if its deactivate hook fails. */
    readonly ignoreHookErrors: boolean,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** Throws source.hook_failed, source.busy, source.owned_by_workflow, source.not_found. */
@CommandHandler(DeleteSource)
export class DeleteSourceHandler implements ICommandHandler<DeleteSource> {
  constructor(
    private readonly operations: SourceOperations,
    private readonly deletions: SourceDeletions,
  ) {}

  execute({ sourceId, ignoreHookErrors, context }: DeleteSource): Promise<Deleted> {
    const deletion = this.deletions.deletion(sourceId, { ignoreHookErrors }, context);
    return this.operations.exclusively(sourceId, async () => {
      try {
        await deletion.prepare();
      } catch (error) {
        await deletion.undo(error);
        throw error;
      }
      // A deletion whose hook has run is not undone. The next start finishes it.
      return deletion.finish();
    });
  }
}
