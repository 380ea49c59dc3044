import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { streamName, type Position } from '#libs/kernel/events.js';
import { load, type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { CLOCK, EVENT_STORE, HANDLE_COMMAND, READ_YOUR_WRITES, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { componentDecider, savedDataOf, type SavedComponent } from '../domain/component.js';
import { COMPONENT_USERS, type ComponentUser, type ComponentUsers } from '../ports.js';

export class DeleteComponent extends Command<Position | undefined> {
  constructor(
    readonly componentId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

const APPLIED_MS = 10_000;
/** Users of a component that an error names. */
const MOST_NAMED = 100;

/**
 * Deletes a component that no source or workflow uses. Throws component.in_use.
 *
 * A deployment writes its source first and then checks its component (`ComponentCatalog`). This handler deletes first
 * and then looks for users. So of two at once at least one sees the other, and the component is saved again. A crash in
 * between leaves the source with all that it runs, because blobs stay, and the same code can be saved again.
 */
@CommandHandler(DeleteComponent)
export class DeleteComponentHandler implements ICommandHandler<DeleteComponent> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(READ_YOUR_WRITES) private readonly readModels: ReadYourWrites,
    @Inject(COMPONENT_USERS) private readonly users: ComponentUsers,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ componentId, context }: DeleteComponent): Promise<Position | undefined> {
    const stream = streamName(componentDecider.category, componentId);
    const { state } = await load(this.store, this.upcasters, componentDecider, stream);
    if (state.status === 'none') return undefined;
    await this.checkUnused(state.component, context);

    const command = { type: 'DeleteComponentCode', now: this.clock.now() } as const;
    const { position } = await this.handle(componentDecider, componentId, command, context);
    if (position === undefined) return undefined;
    await this.readModels.waitFor(position, APPLIED_MS);
    try {
      await this.checkUnused(state.component, context);
    } catch (error) {
      const data = savedDataOf(state.component);
      const again = { ...context, commandId: newCommandId(), causationId: context.commandId };
      await this.handle(componentDecider, componentId, { type: 'SaveComponentCode', data }, again);
      throw error;
    }
    return position;
  }

  private async checkUnused({ componentId, name }: SavedComponent, { workspaceId }: CommandContext): Promise<void> {
    const { sources, workflows } = await this.users.of(componentId, workspaceId);
    if (sources.length === 0 && workflows.length === 0) return;
    const all = [...sources, ...workflows];
    const shown = all.slice(0, 5).map(({ id }) => id);
    const more = all.length > shown.length ? ` and ${all.length - shown.length} more` : '';
    throw new DomainError(
      'component.in_use',
      `component ${componentId} (${name}) is used by ${shown.join(', ')}${more}: delete them or give them another component first`,
      { id: componentId, sources: named(sources), workflows: named(workflows) },
    );
  }
}

const named = (users: readonly ComponentUser[]): readonly ComponentUser[] =>
  users.slice(0, MOST_NAMED).map(({ id, name }) => ({ id, name }));
