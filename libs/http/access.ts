import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const OPEN_TO_ALL = 'sluice:open-to-all';
export const TOKEN_IN_QUERY = 'sluice:token-in-query';
export const KEY_OPTIONAL = 'sluice:key-optional';
export const OPEN_TO_TOOLS_KEYS = 'sluice:open-to-tools-keys';

/** Marks a route that needs no API key, such as health, metrics and the OpenAPI document. */
export const OpenToAll = (): CustomDecorator => SetMetadata(OPEN_TO_ALL, true);

/**
 * Accepts the key also as `?access_token=`, for stream routes, because browsers cannot send headers to them
 * (docs/reference/rest-api.md#access-token-in-query).
 */
export const TokenInQuery = (): CustomDecorator => SetMetadata(TOKEN_IN_QUERY, true);

/** Passes a request without any key to its route, which decides whether it needs one. */
export const KeyOptional = (): CustomDecorator => SetMetadata(KEY_OPTIONAL, true);

/** Admits keys for tools only. The route itself must keep to the `tools` of its caller. */
export const OpenToToolsKeys = (): CustomDecorator => SetMetadata(OPEN_TO_TOOLS_KEYS, true);
