import { Controller, HttpCode, Inject, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { accountParams } from '../account-params.js';
import { Account, type AccountReply, changedAccountReply } from '../account-reply.js';
import { findAccount } from '../find-account.js';
import { UpdateAccount } from './update-account.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class UpdateAccountDto {
  @Meaning('Name for people')
  @IsOptional()
  @IsString()
  @MaxLength(255)
  name?: string | null;

  @Meaning('Credentials of the app, such as `{"api_key": "…"}`; they are encrypted')
  @IsOptional()
  @IsObject()
  credentials?: object | null;

  @Meaning('How a token is refreshed; null for credentials that do not expire')
  @IsOptional()
  @IsObject()
  oauth?: object | null;
}

@Controller('v1/accounts')
export class UpdateAccountController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  /** Keeps absent fields; null clears the name. Credentials are replaced as a whole; oauth null ends the refresh. */
  @Put(':id')
  @Operation({ summary: 'Rename an account or replace its credentials', body: UpdateAccountDto, reply: one(Account) })
  @HttpCode(200)
  async update(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: AccountReply }>> {
    const { name, credentials, oauth } = await accountParams(UpdateAccountDto, params);
    const { workspaceId } = await findAccount(this.readModels, caller.workspaceIds, id);
    const changes = {
      ...(name === undefined ? {} : { name: name || null }),
      ...(credentials === undefined || credentials === null ? {} : { credentials }),
      ...(oauth === undefined ? {} : { oauth }),
    };
    const updated = await this.commands.execute(new UpdateAccount(id, changes, contextIn(workspaceId)));
    return new Changed(updated.position, { data: changedAccountReply(updated) });
  }
}
