import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { NO_SAMPLE_EMIT, SAMPLE_EMIT } from '#libs/component-model/hooks.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { idleSource, sourceInactive } from '../domain/source.js';
import { HOOK_RUNNER } from '../ports.js';
import { type HookRunner } from '../published.js';
import { SourceOperations } from '../source-operations.js';

export class EmitSample extends Command<void> {
  constructor(
    readonly sourceId: string,
    readonly workspaceId: string,
  ) {
    super();
  }
}

/**
 * Emits the component's sample event on the default channel of a source. Resolves once the event is durable. Throws
 * source.not_found, source.busy, source.inactive, source.no_sample, source.sample_failed.
 */
@CommandHandler(EmitSample)
export class EmitSampleHandler implements ICommandHandler<EmitSample> {
  constructor(
    private readonly operations: SourceOperations,
    @Inject(HOOK_RUNNER) private readonly runner: HookRunner,
  ) {}

  execute({ sourceId, workspaceId }: EmitSample): Promise<void> {
    // Runs alone, because a concurrent change of the source would replace its process.
    return this.operations.exclusively(sourceId, () => this.emit(sourceId, workspaceId));
  }

  private async emit(sourceId: string, workspaceId: string): Promise<void> {
    const source = idleSource(await this.operations.stateOf(sourceId, workspaceId), sourceId);
    if (!source.active) throw sourceInactive(sourceId);
    const { definition } = source;
    const { error } = await this.runner.runHook({ sourceId, workspaceId, definition, hook: SAMPLE_EMIT });
    if (!error) return;
    const { componentId } = definition;
    const details = { id: sourceId, component_id: componentId };
    if (error.code === NO_SAMPLE_EMIT) {
      const text = `source ${sourceId} has no sample event: ${error.message} (component ${componentId})`;
      throw new DomainError('source.no_sample', text, details);
    }
    const text = `the sample event of component ${componentId} could not be emitted: ${error.name}: ${error.message}`;
    throw new DomainError('source.sample_failed', text, details);
  }
}
