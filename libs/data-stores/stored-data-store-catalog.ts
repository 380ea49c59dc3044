import { Injectable } from '@nestjs/common';
import { isIdOf } from '#libs/kernel/ids.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { DataStoreNames } from './data-store-names.js';
import { dataStoreNotFound } from './find-data-store.js';
import { type DataStoreCatalog } from './published.js';

@Injectable()
export class StoredDataStoreCatalog implements DataStoreCatalog {
  constructor(private readonly names: DataStoreNames) {}

  async resolve(idOrName: string, context: CommandContext): Promise<string> {
    if (!isIdOf('ds', idOrName)) return (await this.names.named(idOrName, context)).store.id;
    const { status } = await this.names.stateOf(idOrName, context.workspaceId);
    if (status !== 'exists') throw dataStoreNotFound(idOrName);
    return idOrName;
  }
}
