import { AccountsView } from '#libs/accounts/index.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DataStoresView } from '#libs/data-stores/index.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { SourcesView } from '#libs/sources/index.js';
import { type Resources } from '#libs/subscriptions/index.js';
import { CallersView } from '#libs/tenancy/index.js';
import { WebhooksView } from '#libs/webhooks/index.js';

/**
 * Creates the in-memory tables that several roles use, fed by one reader of the event log (docs/adr/0007). `own`: further
 * tables of this process, such as that of a router.
 */
export const makeViews = (clock: Clock, own: readonly LiveView[] = []) => {
  const callers = new CallersView(clock);
  const sources = new SourcesView();
  const webhooks = new WebhooksView(clock);
  const dataStores = new DataStoresView();
  const accounts = new AccountsView();
  const resources: Resources = {
    find: (id) => (id.startsWith('wh_') ? webhooks.find(id) : sources.find(id)),
  };
  const all: readonly LiveView[] = [callers, sources, webhooks, dataStores, accounts, ...own];
  return { callers, sources, webhooks, dataStores, accounts, resources, all };
};

export type Views = ReturnType<typeof makeViews>;
