export const SUBSCRIPTION_LIMITS = {
  subscriptionsPerWorkspace: 10_000,
  autoSubscriptionsPerWorkspace: 20,
};

export type SubscriptionLimits = Readonly<typeof SUBSCRIPTION_LIMITS>;
