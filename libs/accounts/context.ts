import { auditable } from '#libs/kernel/auditable.js';
import { type Context } from '#libs/kernel/context.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type Vault } from '#libs/kernel/vault.js';
import { AccountsModule, type AccountsPorts } from './accounts.module.js';
import { AccountsView } from './accounts-view.js';
import { AccountCleanUpReactor } from './clean-up/account-clean-up.reactor.js';
import { account } from './domain/account.js';
import { ACCOUNT_LIMITS } from './limits.js';
import { type AccountEvent } from './published.js';
import { accountsProjection } from './read-models/accounts.projection.js';

export const accountsContext = {
  projections: [accountsProjection],
  views: () => ({ accounts: new AccountsView() }),
  reactors: {
    accounts: ({ events, vault }: { readonly events: EventStore; readonly vault: Vault }) =>
      new AccountCleanUpReactor({ events, vault }),
  },
  ids: ['apn', 'app'],
  limits: ACCOUNT_LIMITS,
  auditable: [auditable('apn', account)],
  workspaceAudit: [account.category],
  holds: {
    what: 'account',
    from: 'AccountConnected' satisfies AccountEvent['type'],
    until: 'AccountDisconnected' satisfies AccountEvent['type'],
  },
  module: (ports: AccountsPorts) => AccountsModule.forRoot(ports),
} as const satisfies Context;
