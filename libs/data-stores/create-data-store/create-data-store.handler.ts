import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { DataStoreNames, type NamedDataStore, nameTaken } from '../data-store-names.js';

export class CreateDataStore extends Command<NamedDataStore> {
  constructor(
    readonly name: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** Throws data_store.name_taken, data_store.invalid_name and workspace.limit_reached. */
@CommandHandler(CreateDataStore)
export class CreateDataStoreHandler implements ICommandHandler<CreateDataStore> {
  constructor(private readonly names: DataStoreNames) {}

  async execute({ name, context }: CreateDataStore): Promise<NamedDataStore> {
    const named = await this.names.named(name, context);
    if (!named.isNew) throw nameTaken(named.store.name, named.store.id);
    return named;
  }
}
