import { Inject, Injectable } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type EventStore, RevisionConflict } from '#libs/kernel/event-store.js';
import { streamName } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand, load } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { CLOCK, EVENT_STORE, HANDLE_COMMAND, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { externalIdDecider, externalIdStream } from './domain/external-id.js';
import { workflowBusy, workflowDecider, type WorkflowState } from './domain/workflow.js';

const MAX_ROUNDS = 20;
/** Age after which a reservation whose workflow never got the external id counts as left by a crash. */
const ABANDONED_MS = 60_000;

/**
 * Reserves external ids. One is reserved before its workflow has it, and released after the workflow has lost it. Each
 * step repeats harmlessly, so the next command that needs such an id completes what a crash interrupted.
 */
@Injectable()
export class ExternalIds {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Reads a workflow from the log. `none` for one of another workspace. */
  async stateOf(workflowId: string, workspaceId: string): Promise<WorkflowState> {
    const stream = streamName(workflowDecider.category, workflowId);
    for await (const first of this.store.read(stream, { limit: 1 })) {
      if (first.metadata.workspaceId !== workspaceId) break;
      return (await load(this.store, this.upcasters, workflowDecider, stream)).state;
    }
    return { status: 'none' };
  }

  /**
   * Reserves the external id for a workflow. Resolves with the one that holds it, which may be another. A creation also
   * gets the id of another creation that has not ended, and both write the same stream.
   */
  async hold(externalId: string, workflowId: string, isNew: boolean, context: CommandContext): Promise<string> {
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const held = await this.holderOf(externalId, context.workspaceId);
      if (!held) {
        await this.change('reserve', externalId, workflowId, context);
        continue;
      }
      if (held.workflowId === workflowId) return workflowId;
      const holder = await this.stateOf(held.workflowId, context.workspaceId);
      if (holder.status === 'exists' && holder.workflow.externalId === externalId) return held.workflowId;
      if (holder.status === 'none' && isNew) return held.workflowId;
      // The workflow is being changed, or its change was interrupted.
      if (holder.status !== 'deleted' && this.clock.now() - held.reservedAt < ABANDONED_MS)
        throw workflowBusy(held.workflowId);
      await this.change('release', externalId, held.workflowId, context);
    }
    throw workflowBusy(workflowId);
  }

  release(externalId: string, workflowId: string, context: CommandContext): Promise<void> {
    return this.change('release', externalId, workflowId, context);
  }

  /** The workflow that has this external id now. */
  async find(externalId: string, workspaceId: string): Promise<string | undefined> {
    const held = await this.holderOf(externalId, workspaceId);
    if (!held) return undefined;
    const holder = await this.stateOf(held.workflowId, workspaceId);
    return holder.status === 'exists' && holder.workflow.externalId === externalId ? held.workflowId : undefined;
  }

  private async holderOf(externalId: string, workspaceId: string) {
    const stream = streamName(externalIdDecider.category, externalIdStream(workspaceId, externalId));
    return (await load(this.store, this.upcasters, externalIdDecider, stream)).state;
  }

  private async change(
    type: 'reserve' | 'release',
    externalId: string,
    workflowId: string,
    context: CommandContext,
  ): Promise<void> {
    const id = externalIdStream(context.workspaceId, externalId);
    for (let round = 1; ; round++) {
      try {
        const command = { type, externalId, workflowId, now: this.clock.now() };
        await this.handle(externalIdDecider, id, command, stepOf(context));
        return;
      } catch (error) {
        if (!(error instanceof RevisionConflict) || round >= MAX_ROUNDS) throw error;
      }
    }
  }
}

/** Context for one of several steps of a request, each a command of its own. */
export const stepOf = (context: CommandContext): CommandContext => ({
  ...context,
  commandId: newCommandId(),
  causationId: context.commandId,
});

export const externalIdTaken = (externalId: string, id: string): DomainError =>
  new DomainError(
    'workflow.external_id_taken',
    `workflow ${id} has the external id ${externalId}: change it with PUT /v1/workflows/${id}, or choose another external id`,
    { field: 'external_id', actual: externalId, id },
  );
