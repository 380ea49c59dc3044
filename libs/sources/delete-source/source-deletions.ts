import { Injectable } from '@nestjs/common';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { checkOwner, idleSource, type SourceRecord } from '../domain/source.js';
import { failureOf } from '../failure-of.js';
import { type SourceOperation } from '../source-operation.js';
import { allSecretsOf, SourceOperations } from '../source-operations.js';

interface DeletionOptions {
  /** Deletes the source even if its deactivate hook fails. */
  readonly ignoreHookErrors: boolean;
  readonly workflowChange?: string;
}

export interface Deleted {
  readonly position: Position | undefined;
}

/** Deletes sources with their db, events and logs. See docs/reference/component-model.md#source-deleted-data. */
@Injectable()
export class SourceDeletions {
  constructor(private readonly operations: SourceOperations) {}

  deletion(sourceId: string, options: DeletionOptions, context: CommandContext): SourceOperation<Deleted> {
    return new Deletion(this.operations, sourceId, options, context);
  }
}

class Deletion implements SourceOperation<Deleted> {
  private source: SourceRecord | undefined;

  constructor(
    private readonly operations: SourceOperations,
    readonly sourceId: string,
    private readonly options: DeletionOptions,
    private readonly context: CommandContext,
  ) {}

  async prepare(): Promise<void> {
    const { operations, sourceId, context } = this;
    const { ignoreHookErrors, ...ofWorkflow } = this.options;

    // 1. Refuse when another operation runs. From here on no other operation can start.
    const before = idleSource(await operations.stateOf(sourceId, context.workspaceId), sourceId);
    checkOwner(before, ofWorkflow.workflowChange);
    const start = { type: 'StartDeletion', now: operations.clock.now(), ...ofWorkflow } as const;
    const { state } = await operations.decide(sourceId, start, context);
    if (state.status !== 'deleting') throw new Error(`source ${sourceId} is ${state.status} when its deletion starts`);
    const { source } = state;
    this.source = source;

    // 2. Run deactivate, unless the source is inactive.
    if (!source.active) return;
    const hooks = operations.hookSession(sourceId, context.workspaceId);
    const failure = await hooks.attempt(source.definition, 'deactivate');
    if (failure && !ignoreHookErrors) throw failure;
  }

  async finish(): Promise<Deleted> {
    const { operations, source, context } = this;
    if (!source) throw new Error('a deletion ends that did not begin');

    // 3. Delete the source for every reader.
    const finish = { type: 'FinishDeletion', now: operations.clock.now() } as const;
    const { position } = await operations.decide(source.sourceId, finish, context);

    // 4. Remove its data outside the log. The next start repeats a step that fails here.
    await operations.bestEffort(source.sourceId, 'removal of leftovers of a deleted source', async () => {
      await operations.operationEnded(source.sourceId);
      await operations.forget({ ...source, secretRefs: allSecretsOf(source) }, context);
    });
    return { position };
  }

  async undo(error: unknown): Promise<void> {
    const { operations, sourceId, context } = this;
    if (!this.source) return;
    await operations.bestEffort(sourceId, 'ending a failed deletion', async () => {
      const fail = { type: 'FailDeletion', ...failureOf(error), now: operations.clock.now() } as const;
      await operations.decide(sourceId, fail, context);
      await operations.operationEnded(sourceId);
    });
  }

  async revert(error: unknown): Promise<void> {
    const { operations, sourceId, source, context } = this;
    if (source?.active === true)
      await operations.bestEffort(sourceId, 'activate after a deletion that was not made', () =>
        operations.hookSession(sourceId, context.workspaceId).run(source.definition, 'activate'),
      );
    await this.undo(error);
  }
}
