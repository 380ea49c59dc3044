import { describe, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { DEFAULT_RULES, type WebhookEvent } from '../published.js';
import { FORMER_KEY_VALID_MS, webhook } from './webhook.js';

const fields = { name: 'Orders', description: null, url: 'https://example.com/hook' };
const rules = DEFAULT_RULES;
const create = {
  type: 'create',
  webhookId: 'wh_1',
  userId: 'u_1',
  ...fields,
  signingKeyRef: 'sec_1',
  rules,
  now: 1_000,
} as const;
const created: WebhookEvent = {
  type: 'WebhookCreated',
  data: { webhookId: 'wh_1', userId: 'u_1', ...fields, signingKeyRef: 'sec_1', rules, createdAt: 1_000 },
};
const updated = (changes: object): WebhookEvent => ({
  type: 'WebhookUpdated',
  data: { ...fields, active: true, rules, updatedAt: 2_000, ...changes },
});
const disabled: WebhookEvent = { type: 'WebhookDisabled', data: { reason: '410', disabledAt: 1_500 } };
const deleted: WebhookEvent = { type: 'WebhookDeleted', data: { deletedAt: 3_000 } };

describe('a webhook', () => {
  it('is created, active', () => given(webhook).when(create).then(created));

  it('created again is a no-op', () => given(webhook, [created]).when(create).thenNothingHappened());

  it('needs a URL that can be delivered to', () => {
    given(webhook)
      .when({ ...create, url: 'example.com' })
      .thenThrows('webhook.invalid_url', /has no protocol/);
    given(webhook, [created])
      .when({ type: 'update', changes: { url: 'ftp://example.com' }, now: 2_000 })
      .thenThrows('webhook.invalid_url', /has the protocol ftp/);
  });

  it.each([
    ['the name', { name: 'New' }],
    ['no name any more', { name: null }],
    ['the description', { description: 'To the shop' }],
    ['the URL', { url: 'http://localhost:8080/x' }],
    ['active', { active: false }],
    ['all of it', { name: null, description: 'd', url: 'https://b.example', active: false }],
  ])('changes %s, and nothing else', (_, changes) =>
    given(webhook, [created]).when({ type: 'update', changes, now: 2_000 }).then(updated(changes)),
  );

  it('changes one of its rules, and keeps the others', () => {
    const first = updated({ rules: { timeoutS: 20, maxAttempts: null, ordered: false } });
    given(webhook, [created])
      .when({ type: 'update', changes: { rules: { timeoutS: 20 } }, now: 2_000 })
      .then(first);
    given(webhook, [created, first])
      .when({ type: 'update', changes: { rules: { ordered: true } }, now: 2_000 })
      .then(updated({ rules: { timeoutS: 20, maxAttempts: null, ordered: true } }));
  });

  it.each([[{}], [{ rules: {} }], [{ ...fields, active: true, rules }]])(
    'is not updated without a change: %j',
    (changes) => given(webhook, [created]).when({ type: 'update', changes, now: 2_000 }).thenNothingHappened(),
  );

  it('is disabled by the platform once, and enabled again by its owner', () => {
    given(webhook, [created]).when({ type: 'disable', reason: '410', now: 1_500 }).then(disabled);
    given(webhook, [created, disabled]).when({ type: 'disable', reason: '410', now: 1_600 }).thenNothingHappened();
    given(webhook, [created, disabled])
      .when({ type: 'update', changes: { active: true }, now: 2_000 })
      .then(updated({}));
  });

  it('gets a new key, while the former one stays valid for 24 hours', () => {
    const first: WebhookEvent = {
      type: 'WebhookSigningKeyRegenerated',
      data: {
        signingKeyRef: 'sec_2',
        formerKeyRef: 'sec_1',
        formerValidUntil: 2_000 + FORMER_KEY_VALID_MS,
        regeneratedAt: 2_000,
      },
    };
    given(webhook, [created]).when({ type: 'regenerate_signing_key', signingKeyRef: 'sec_2', now: 2_000 }).then(first);
    given(webhook, [created, first])
      .when({ type: 'regenerate_signing_key', signingKeyRef: 'sec_3', now: 3_000 })
      .then({
        type: 'WebhookSigningKeyRegenerated',
        data: {
          signingKeyRef: 'sec_3',
          formerKeyRef: 'sec_2',
          formerValidUntil: 3_000 + FORMER_KEY_VALID_MS,
          regeneratedAt: 3_000,
        },
      });
  });

  it('is deleted', () => given(webhook, [created]).when({ type: 'delete', now: 3_000 }).then(deleted));

  it.each([[[]], [[created, deleted]]])('refuses commands when it does not exist', (past: WebhookEvent[]) => {
    for (const command of [
      { type: 'update', changes: {}, now: 1 },
      { type: 'disable', reason: '410', now: 1 },
      { type: 'regenerate_signing_key', signingKeyRef: 'sec_2', now: 1 },
      { type: 'delete', now: 1 },
    ] as const) {
      given(webhook, past).when(command).thenThrows('webhook.not_found');
    }
  });
});
