import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsString } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { dataStoreReply, type DataStoreReply, DataStoreSchema } from '../data-store-reply.js';
import { CreateDataStore } from './create-data-store.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class CreateDataStoreDto {
  @Meaning('Name for people')
  @IsString()
  name!: string;
}

@Controller('v1/data_stores')
export class CreateDataStoreController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @Operation({ summary: 'Create a data store', body: CreateDataStoreDto, reply: one(DataStoreSchema) })
  @HttpCode(200)
  async create(
    @Params('body_wins', CreateDataStoreDto) { name }: CreateDataStoreDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: DataStoreReply }>> {
    const workspaceId = workspaceOf(caller);
    const { store, revision, position } = await this.commands.execute(
      new CreateDataStore(name, contextIn(workspaceId)),
    );
    return new Changed(position, { data: dataStoreReply({ ...store, revision }, workspaceId) });
  }
}
