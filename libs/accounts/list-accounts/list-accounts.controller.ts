import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { memberOf, ownedBy } from '#libs/http/workspace.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type PageWhere } from '#libs/kernel/read-model-store.js';
import { Account, accountReply, type AccountReply } from '../account-reply.js';
import { ListAccounts } from './list-accounts.query.js';
import { creationSortOf } from '#libs/kernel/ids.js';

const also = { app: 'Slug of an app: only its accounts' };

@Controller('v1')
export class ListAccountsController {
  constructor(private readonly queries: QueryBus) {}

  @Get('accounts')
  @Operation({ summary: 'Accounts that the user connected, newest first', paged: true, also, reply: paged(Account) })
  list(@Params('query_wins') params: Parameters, @CurrentCaller() caller: Caller): Promise<ListReply<AccountReply>> {
    return this.page(ownedBy(caller), params);
  }

  @Get(['workspaces/:id/accounts', 'orgs/:id/accounts'])
  @Operation({ summary: 'Accounts of a workspace, newest first', paged: true, also, reply: paged(Account) })
  ofWorkspace(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<AccountReply>> {
    return this.page({ workspaceId: memberOf(caller, id) }, params);
  }

  private async page(owner: PageWhere, params: Parameters): Promise<ListReply<AccountReply>> {
    const app = slugOf(params['app'] ?? params['app_slug']);
    const where = app === undefined ? owner : { ...owner, app };
    return listReply(
      await this.queries.execute(new ListAccounts({ where, ...pageQuery(params, creationSortOf('apn')) })),
      accountReply,
    );
  }
}

const slugOf = (given: unknown): string | undefined => {
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given === 'string') return given;
  throw new DomainError('request.invalid_parameter', 'parameter app must be one slug of an app', { field: 'app' });
};
