import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { webhooksContext } from './context.js';
import { webhook } from './domain/webhook.js';
import { type WebhookEvent } from './published.js';

const golden = new GoldenEvents(webhooksContext);

const RULES = { timeoutS: 20, maxAttempts: 3, ordered: true };

const after = (...names: GoldenName<WebhookEvent>[]) => golden.after(webhook, ...names);

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<WebhookEvent['type'], () => void> = {
  WebhookCreated: () => {
    expect(after('WebhookCreated')).toEqual({
      status: 'exists',
      id: 'wh_0k2f9x8a1b3c5d7e9f',
      userId: 'u_0k2f9x8a1b3c5d7e9f',
      name: 'Orders',
      description: null,
      url: 'https://example.com/hook',
      active: true,
      disabledReason: null,
      rules: RULES,
      signingKeyRef: 'sec_0k2f9x8a1b3c5d7e9f',
      createdAt: 1_763_712_000_000,
      updatedAt: 1_763_712_000_000,
    });
  },
  WebhookUpdated: () => {
    expect(after('WebhookCreated', 'WebhookUpdated')).toMatchObject({
      rules: RULES,
      name: 'Orders 2',
      description: 'To the shop',
      url: 'https://example.com/hook2',
      active: false,
      updatedAt: 1_763_712_001_000,
    });
  },
  WebhookDisabled: () =>
    expect(after('WebhookCreated', 'WebhookDisabled')).toMatchObject({
      active: false,
      updatedAt: 1_763_712_002_000,
    }),
  WebhookSigningKeyRegenerated: () =>
    expect(after('WebhookCreated', 'WebhookSigningKeyRegenerated')).toMatchObject({
      signingKeyRef: 'sec_1k2f9x8a1b3c5d7e9f',
      updatedAt: 1_763_712_003_000,
    }),
  WebhookDeleted: () => expect(after('WebhookCreated', 'WebhookDeleted')).toEqual({ status: 'deleted' }),
};

describe('every version of an event of webhooks', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());
});
