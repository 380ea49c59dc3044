import { Controller, Get, Inject, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { Account, accountReply, type AccountReply, changedAccountReply } from '../account-reply.js';
import { findAccount } from '../find-account.js';
import { ShowCredentials } from './show-credentials.handler.js';

const also = { include_credentials: '`true` adds the credentials, for the user who connected the account' };

@Controller('v1/accounts')
export class GetAccountController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  @Get(':id')
  @Operation({ summary: 'An account', also, reply: one(Account) })
  async get(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: AccountReply }> {
    const doc = await findAccount(this.readModels, caller.workspaceIds, id);
    const included = params['include_credentials'];
    if (included !== 'true' && included !== '1' && included !== true) return { data: accountReply(doc) };
    const shown = await this.commands.execute(new ShowCredentials(id, contextIn(doc.workspaceId)));
    return { data: { ...changedAccountReply(shown), credentials: { ...shown.credentials } } };
  }
}
