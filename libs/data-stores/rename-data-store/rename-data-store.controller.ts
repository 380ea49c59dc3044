import { Controller, HttpCode, Inject, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsString } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { dataStoreReply, type DataStoreReply, DataStoreSchema } from '../data-store-reply.js';
import { findDataStore } from '../find-data-store.js';
import { RenameDataStore } from './rename-data-store.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class RenameDataStoreDto {
  @Meaning('Name for people')
  @IsString()
  name!: string;
}

@Controller('v1/data_stores')
export class RenameDataStoreController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  @Put(':id')
  @Operation({ summary: 'Give a data store another name', body: RenameDataStoreDto, reply: one(DataStoreSchema) })
  @HttpCode(200)
  async rename(
    @Param('id') id: string,
    @Params('body_wins', RenameDataStoreDto) { name }: RenameDataStoreDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: DataStoreReply }>> {
    const { workspaceId } = await findDataStore(this.readModels, caller.workspaceIds, id);
    const { store, revision, position } = await this.commands.execute(
      new RenameDataStore(id, name, contextIn(workspaceId)),
    );
    return new Changed(position, { data: dataStoreReply({ ...store, revision }, workspaceId) });
  }
}
