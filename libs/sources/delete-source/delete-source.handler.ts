import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { idleSource, type SourceRecord } from '../domain/source.js';
import { failureOf } from '../failure-of.js';
import { allSecretsOf, SourceOperations } from '../source-operations.js';

export class DeleteSource extends Command<{ position: Position | undefined }> {
  constructor(
    readonly sourceId: string,
    /** Deletes the source even if its deactivate hook fails. */
    readonly ignoreHookErrors: boolean,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Deletes a source with its db, events and logs. See docs/reference/component-model.md#source-deleted-data. Throws
 * source.hook_failed, source.busy, source.not_found.
 */
@CommandHandler(DeleteSource)
export class DeleteSourceHandler implements ICommandHandler<DeleteSource> {
  constructor(private readonly operations: SourceOperations) {}

  execute(command: DeleteSource): Promise<{ position: Position | undefined }> {
    return this.operations.exclusively(command.sourceId, () => this.run(command));
  }

  private async run({
    sourceId,
    ignoreHookErrors,
    context,
  }: DeleteSource): Promise<{ position: Position | undefined }> {
    const { operations } = this;

    // 1. Refuse when another operation runs. From here on no other operation can start.
    idleSource(await operations.stateOf(sourceId, context.workspaceId), sourceId);
    const start = { type: 'StartDeletion', now: operations.clock.now() } as const;
    const { state } = await operations.decide(sourceId, start, context);
    if (state.status !== 'deleting') throw new Error(`source ${sourceId} is ${state.status} when its deletion starts`);
    const { source } = state;

    // 2. Run deactivate, unless the source is inactive.
    try {
      await this.deactivate(source, ignoreHookErrors, context);
    } catch (error) {
      await operations.bestEffort(sourceId, 'ending a failed deletion', async () => {
        const fail = { type: 'FailDeletion', ...failureOf(error), now: operations.clock.now() } as const;
        await operations.decide(sourceId, fail, context);
        await operations.operationEnded(sourceId);
      });
      throw error;
    }

    // 3. Delete the source for every reader.
    const finish = { type: 'FinishDeletion', now: operations.clock.now() } as const;
    const { position } = await operations.decide(sourceId, finish, context);

    // 4. Remove its data outside the log. The next start repeats a step that fails here.
    await operations.bestEffort(sourceId, 'removal of leftovers of a deleted source', async () => {
      await operations.operationEnded(sourceId);
      await operations.forget({ ...source, secretRefs: allSecretsOf(source) }, context);
    });
    return { position };
  }

  private async deactivate(source: SourceRecord, ignoreHookErrors: boolean, context: CommandContext): Promise<void> {
    if (!source.active) return;
    const hooks = this.operations.hookSession(source.sourceId, context.workspaceId);
    const failure = await hooks.attempt(source.definition, 'deactivate');
    if (failure && !ignoreHookErrors) throw failure;
  }
}
