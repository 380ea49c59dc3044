import { describe, expect, it } from '@jest/globals';
import { operationIdOf } from './operation-ids.js';

describe('the name of a route', () => {
  it.each([
    ['get', '/healthz', false, 'getHealthz'],
    ['get', '/v1/sources/{idOrSlug}', false, 'getSource'],
    ['get', '/v1/users/me/sources', true, 'listMySources'],
    ['get', '/v1/workspaces/{id}/sources', true, 'listWorkspaceSources'],
    ['get', '/v1/sources/{id}/$errors/event_summaries', true, 'listSourceErrorEventSummaries'],
    ['get', '/v1/data_stores/{id}/records/{key}', false, 'getDataStoreRecord'],
    ['get', '/v1/webhooks/{id}/deliveries', true, 'listWebhookDeliveries'],
    ['get', '/v1/sources/{id}/sse', false, 'streamSourceEvents'],
    ['get', '/v1/workspaces/{id}/audit/export', false, 'exportWorkspaceAudit'],
    ['post', '/v1/api_keys', false, 'createApiKey'],
    ['post', '/v1/sources/{idOrSlug}/run', false, 'runSource'],
    ['post', '/v1/webhooks/{id}/deliveries/redeliver', false, 'redeliverWebhookDeliveries'],
    ['post', '/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver', false, 'redeliverWebhookDelivery'],
    ['post', '/v1/webhooks/{id}/regenerate_signing_key', false, 'regenerateWebhookSigningKey'],
    ['put', '/v1/accounts/{id}', false, 'updateAccount'],
    ['delete', '/v1/sources/{id}/events', false, 'deleteSourceEvents'],
    ['delete', '/v1/subscriptions', false, 'deleteSubscription'],
  ])('%s %s', (method, path, isList, name) => {
    expect(operationIdOf(method, path, isList)).toBe(name);
  });
});
