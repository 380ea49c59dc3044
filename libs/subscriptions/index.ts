export { subscriptionsContext } from './context.js';
export { SubscriptionsModule } from './subscriptions.module.js';
export { DeletedResourceSubscriptionsReactor } from './clean-up/deleted-resource-subscriptions.reactor.js';
export { emissionFaults } from './emission-faults.js';
export { subscriptionsTo } from './subscriptions-to.js';
export { type Replays } from './ports.js';
