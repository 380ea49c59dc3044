export { accountsContext } from './context.js';
export { AccountsModule } from './accounts.module.js';
export { accountAuths, AccountsView } from './accounts-view.js';
export { AccountCleanUpReactor } from './clean-up/account-clean-up.reactor.js';
export { deadAccounts } from './dead-accounts.js';
export { account } from './domain/account.js';
export { AccountRefresher, EVENTS_WAIT_MS } from './refresh/account-refresher.js';
export { type PostForm, TokenRefused } from './refresh/token-grant.js';
