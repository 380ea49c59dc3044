export const WEBHOOK_LIMITS = {
  webhooksPerWorkspace: 10_000,
};

export type WebhookLimits = Readonly<typeof WEBHOOK_LIMITS>;
