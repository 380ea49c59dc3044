import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { DataStoreNames } from '../data-store-names.js';
import { dataStore } from '../domain/data-store.js';

export class DeleteDataStore extends Command<{ readonly position?: Position }> {
  constructor(
    readonly storeId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * DataStoreCleanUpReactor reacts to the event and removes the records. After a crash before the release the name still
 * belongs to a deleted store, and DataStoreNames reuses it.
 */
@CommandHandler(DeleteDataStore)
export class DeleteDataStoreHandler implements ICommandHandler<DeleteDataStore> {
  constructor(
    private readonly names: DataStoreNames,
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ storeId, context }: DeleteDataStore): Promise<{ readonly position?: Position }> {
    const command = { type: 'delete', now: this.clock.now() } as const;
    const { state, position } = await this.handle(dataStore, storeId, command, context);
    if (state.status === 'deleted') await this.names.release(state.name, storeId, context);
    return position === undefined ? {} : { position };
  }
}
