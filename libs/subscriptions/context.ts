import { auditable } from '#libs/kernel/auditable.js';
import { type Context } from '#libs/kernel/context.js';
import { AutoSubscribeReactor, type AutoSubscribeDependencies } from './auto-subscribe/auto-subscribe.reactor.js';
import {
  DeletedResourceSubscriptionsReactor,
  type CleanUpDependencies,
} from './clean-up/deleted-resource-subscriptions.reactor.js';
import { autoSubscription } from './domain/auto-subscription.js';
import { subscription } from './domain/subscription.js';
import { SUBSCRIPTION_LIMITS } from './limits.js';
import { autoSubscriptionsProjection } from './read-models/auto-subscriptions.projection.js';
import { subscriptionsProjection } from './read-models/subscriptions.projection.js';
import {
  TriggerSubscriptionsReactor,
  type TriggerSubscriptionsDependencies,
} from './trigger-subscriptions/trigger-subscriptions.reactor.js';
import { SubscriptionsModule, type SubscriptionsPorts } from './subscriptions.module.js';

export const subscriptionsContext = {
  projections: [subscriptionsProjection, autoSubscriptionsProjection],
  reactors: {
    subscriptions: (ports: CleanUpDependencies) => new DeletedResourceSubscriptionsReactor(ports),
    'trigger-subscriptions': (ports: TriggerSubscriptionsDependencies) => new TriggerSubscriptionsReactor(ports),
    'auto-subscriptions': (ports: AutoSubscribeDependencies) => new AutoSubscribeReactor(ports),
  },
  ids: ['sub', 'asub', 'rpl'],
  limits: SUBSCRIPTION_LIMITS,
  auditable: [auditable('sub', subscription), auditable('asub', autoSubscription)],
  workspaceAudit: [subscription.category, autoSubscription.category],
  module: (ports: SubscriptionsPorts) => SubscriptionsModule.forRoot(ports),
} as const satisfies Context;
