import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { OWNED_SOURCES, type OwnedSources } from '#libs/sources/published.js';
import { busyAsWorkflow, workflowDecider, workflowNotFound } from '../domain/workflow.js';
import { ExternalIds, stepOf } from '../external-ids.js';
import { ownedSourcesOf } from '../trigger-sources.js';

export class DeleteWorkflow extends Command<{ readonly position: Position | undefined }> {
  constructor(
    readonly workflowId: string,
    /** Deletes it also when a deactivate hook of its own sources fails. */
    readonly ignoreHookErrors: boolean,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** A reaction removes the versions and their secrets. Throws workflow.not_found, workflow.busy, source.hook_failed. */
@CommandHandler(DeleteWorkflow)
export class DeleteWorkflowHandler implements ICommandHandler<DeleteWorkflow> {
  constructor(
    private readonly externalIds: ExternalIds,
    @Inject(OWNED_SOURCES) private readonly owned: OwnedSources,
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(command: DeleteWorkflow): Promise<{ readonly position: Position | undefined }> {
    const { workflowId, ignoreHookErrors, context } = command;
    const before = await this.externalIds.stateOf(workflowId, context.workspaceId);
    if (before.status !== 'exists') throw workflowNotFound(workflowId);
    // Refuses a request that was made from another revision before any hook runs.
    const nothing = { type: 'Change', changes: {}, now: this.clock.now() } as const;
    await this.handle(workflowDecider, workflowId, nothing, stepOf(context));
    const removed = ownedSourcesOf(before.workflow);
    const change = { workflowId, sources: [], removed, active: false, ignoreHookErrors, context };
    const deletion = this.owned.carryOut(change, async (step) => {
      const result = await this.handle(workflowDecider, workflowId, { type: 'Delete', now: this.clock.now() }, step);
      return { position: result.position };
    });
    const { position } = await busyAsWorkflow(workflowId, deletion);
    // After a crash here, the next workflow that wants the external id releases it.
    const { externalId } = before.workflow;
    if (externalId !== null) await this.externalIds.release(externalId, workflowId, context);
    return { position };
  }
}
