export { subscriptionsContext } from './context.js';
export { SubscriptionsModule } from './subscriptions.module.js';
export {
  DeletedResourceSubscriptionsReactor,
  type CleanUpDependencies,
} from './clean-up/deleted-resource-subscriptions.reactor.js';
export { AutoSubscribeReactor, type AutoSubscribeDependencies } from './auto-subscribe/auto-subscribe.reactor.js';
export { autoSubscription } from './domain/auto-subscription.js';
export { subscription } from './domain/subscription.js';
export { type Replays, type Resources } from './ports.js';
