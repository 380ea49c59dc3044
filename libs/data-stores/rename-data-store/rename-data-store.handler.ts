import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { DataStoreNames, type NamedDataStore, nameTaken } from '../data-store-names.js';
import { checkedName, dataStore } from '../domain/data-store.js';
import { dataStoreNotFound } from '../find-data-store.js';

export class RenameDataStore extends Command<Omit<NamedDataStore, 'isNew'>> {
  constructor(
    readonly storeId: string,
    readonly name: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Reserves the new name, renames the store, and releases the old name. Sources keep the data store, because they refer
 * to its id.
 */
@CommandHandler(RenameDataStore)
export class RenameDataStoreHandler implements ICommandHandler<RenameDataStore> {
  constructor(
    private readonly names: DataStoreNames,
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ storeId, name: given, context }: RenameDataStore): Promise<Omit<NamedDataStore, 'isNew'>> {
    const name = checkedName(given);
    const before = await this.names.stateOf(storeId, context.workspaceId);
    if (before.status !== 'exists') throw dataStoreNotFound(storeId);
    const holder = await this.names.hold(name, storeId, context);
    if (holder !== storeId) throw nameTaken(name, holder);
    const command = { type: 'rename', name, now: this.clock.now() } as const;
    const renamed = this.handle(dataStore, storeId, command, context);
    const { state, position, revision } = await renamed.catch(async (error: unknown) => {
      // A refused precondition must not keep the name.
      if (error instanceof DomainError && before.name !== name) await this.names.release(name, storeId, context);
      throw error;
    });
    if (state.status !== 'exists') throw dataStoreNotFound(storeId);
    if (before.name !== name) await this.names.release(before.name, storeId, context);
    return { store: state, revision: Number(revision), ...(position === undefined ? {} : { position }) };
  }
}
