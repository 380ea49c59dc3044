import { describe, it } from '@jest/globals';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { history } from '#libs/kernel/testing/recorded.js';
import { DEFAULT_RULES } from '../published.js';
import { webhooksProjection } from './webhooks.projection.js';

const stream = 'webhook-wh_1';
const fields = { name: 'Orders', description: null, url: 'https://a.example', rules: DEFAULT_RULES };
const created = {
  type: 'WebhookCreated',
  data: { webhookId: 'wh_1', userId: 'u_1', ...fields, signingKeyRef: 'sec_1', createdAt: 1_700_000_000_000 },
};
const disabled = { type: 'WebhookDisabled', data: { reason: 'answered 410', disabledAt: 1_700_000_001_000 } };
const updated = { type: 'WebhookUpdated', data: { ...fields, name: null, active: true, updatedAt: 1_700_000_002_000 } };
const doc = {
  id: 'wh_1',
  workspaceId: 'o_1',
  userId: 'u_1',
  ...fields,
  active: true,
  disabledReason: null,
  createdAt: '001700000000000',
  updatedAt: 1_700_000_000_000,
  revision: 0,
};

describe('webhooks.webhooks.v2', () => {
  it('shows a created webhook without its key', () => {
    projecting(webhooksProjection)
      .given(history([stream, created]))
      .numberOfTimes(2)
      .then('wh_1', doc);
  });

  it('shows why a webhook was disabled until its owner changes it', () => {
    const past = history([stream, created], [stream, disabled]);
    projecting(webhooksProjection)
      .given(past)
      .numberOfTimes(2)
      .then('wh_1', {
        ...doc,
        active: false,
        disabledReason: 'answered 410',
        updatedAt: 1_700_000_001_000,
        revision: 1,
      });
    projecting(webhooksProjection)
      .given(history([stream, created], [stream, disabled], [stream, updated]))
      .numberOfTimes(2)
      .then('wh_1', { ...doc, name: null, updatedAt: 1_700_000_002_000, revision: 2 });
  });

  it('drops a deleted webhook', () => {
    projecting(webhooksProjection)
      .given(history([stream, created], [stream, { type: 'WebhookDeleted', data: { deletedAt: 1 } }]))
      .numberOfTimes(2)
      .then('wh_1', undefined);
  });
});
