import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { accountParams } from '../account-params.js';
import { Account, type AccountReply, changedAccountReply } from '../account-reply.js';
import { ConnectAccount } from './connect-account.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class ConnectAccountDto {
  @Meaning('Name slug of the app')
  @IsString()
  app!: string;

  @Meaning('Credentials of the app, such as `{"api_key": "…"}`; they are encrypted')
  @IsObject()
  credentials!: object;

  @Meaning('How a token is refreshed; absent for credentials that do not expire')
  @IsOptional()
  @IsObject()
  oauth?: object | null;

  @Meaning('Name for people')
  @IsOptional()
  @IsString()
  @MaxLength(255)
  name?: string | null;
}

@Controller('v1/accounts')
export class ConnectAccountController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @Operation({ summary: 'Connect an account of an app', body: ConnectAccountDto, reply: one(Account) })
  @HttpCode(200)
  async connect(
    @Params('body_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: AccountReply }>> {
    const { app, credentials, name, oauth = null } = await accountParams(ConnectAccountDto, params);
    const input = { app, credentials, oauth, name: name || null };
    const command = new ConnectAccount(input, contextIn(workspaceOf(caller)));
    const connected = await this.commands.execute(command);
    return new Changed(connected.position, { data: changedAccountReply(connected) });
  }
}
