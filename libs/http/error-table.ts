import { type ErrorCode } from '#libs/kernel/error-codes.js';

export interface ErrorRow {
  readonly status: number;
  /** The public `code` of the error body. Stable. */
  readonly word: string;
  /** Seconds for the Retry-After header, unless the error's details name `retry_after`. */
  readonly retryAfter?: number;
}

/**
 * Public form of each domain error (docs/reference/errors.md#error-codes). The type is exhaustive, so a new code does
 * not compile without a row.
 */
export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorRow>> = {
  'request.invalid_parameter': { status: 400, word: 'invalid_parameter' },
  'request.missing_parameter': { status: 400, word: 'missing_parameter' },
  'request.invalid_json': { status: 400, word: 'invalid_json' },
  'request.invalid_cursor': { status: 400, word: 'invalid_cursor' },
  'request.too_many_fields': { status: 400, word: 'too_many_fields' },
  'request.too_large': { status: 413, word: 'too_large' },
  'request.unsupported_media_type': { status: 415, word: 'unsupported_media_type' },
  'request.rate_limited': { status: 429, word: 'rate_limited', retryAfter: 1 },
  'request.not_caught_up': { status: 503, word: 'not_caught_up', retryAfter: 1 },
  'request.conflict': { status: 409, word: 'conflict' },
  'request.route_not_found': { status: 404, word: 'route_not_found' },
  'request.method_not_allowed': { status: 405, word: 'method_not_allowed' },
  'request.operator_only': { status: 403, word: 'operator_only' },
  'auth.unauthorized': { status: 401, word: 'unauthorized' },
  'auth.not_a_member': { status: 403, word: 'not_a_member' },
  'workspace.not_found': { status: 404, word: 'workspace_not_found' },
  'workspace.required': { status: 400, word: 'workspace_required' },
  'workspace.limit_reached': { status: 409, word: 'limit_reached' },
  'user.not_found': { status: 404, word: 'user_not_found' },
  'user.already_exists': { status: 409, word: 'user_already_exists' },
  'api_key.not_found': { status: 404, word: 'api_key_not_found' },
  'component.not_found': { status: 404, word: 'component_not_found' },
  'component.reference_missing': { status: 400, word: 'component_reference_missing' },
  'component.invalid': { status: 400, word: 'invalid_component' },
  'component.too_large': { status: 413, word: 'component_too_large' },
  'component.not_deployable': { status: 400, word: 'component_not_deployable' },
  'component.package_unavailable': { status: 422, word: 'package_unavailable' },
  'component.url_unusable': { status: 422, word: 'component_url_unusable' },
  'component.too_many_builds': { status: 429, word: 'too_many_builds', retryAfter: 5 },
  'component.builds_overloaded': { status: 503, word: 'builds_overloaded', retryAfter: 10 },
  'source.not_found': { status: 404, word: 'source_not_found' },
  'source.busy': { status: 409, word: 'source_busy' },
  'source.unread_limit': { status: 429, word: 'unread_limit', retryAfter: 5 },
  'source.inactive': { status: 409, word: 'source_inactive' },
  'source.stale_update': { status: 409, word: 'stale_update' },
  'source.invalid_prop': { status: 400, word: 'invalid_prop' },
  'source.missing_prop': { status: 400, word: 'missing_prop' },
  'source.hook_failed': { status: 422, word: 'hook_failed' },
  'source.no_sample': { status: 409, word: 'no_sample' },
  'source.sample_failed': { status: 422, word: 'sample_failed' },
  'subscription.not_found': { status: 404, word: 'subscription_not_found' },
  'subscription.invalid_emitter': { status: 400, word: 'invalid_emitter' },
  'subscription.invalid_listener': { status: 400, word: 'invalid_listener' },
  'subscription.invalid_channel': { status: 400, word: 'invalid_event_name' },
  'emitter.not_found': { status: 404, word: 'emitter_not_found' },
  'listener.not_found': { status: 404, word: 'listener_not_found' },
  'webhook.not_found': { status: 404, word: 'webhook_not_found' },
  'webhook.invalid_url': { status: 400, word: 'invalid_url' },
  'account.not_found': { status: 404, word: 'account_not_found' },
  'account.not_owner': { status: 403, word: 'not_owner' },
  'account.env_not_allowed': { status: 422, word: 'env_not_allowed' },
  'delivery.not_found': { status: 404, word: 'delivery_not_found' },
  'event.invalid_id': { status: 400, word: 'invalid_event_id' },
  'audit.not_found': { status: 404, word: 'not_found' },
  'audit.invalid_at': { status: 400, word: 'invalid_at' },
  'request.misdirected': { status: 421, word: 'misdirected' },
  'platform.unavailable': { status: 503, word: 'unavailable', retryAfter: 2 },
  'platform.storage_full': { status: 503, word: 'storage_full', retryAfter: 10 },
  'platform.shutting_down': { status: 503, word: 'shutting_down', retryAfter: 5 },
};
