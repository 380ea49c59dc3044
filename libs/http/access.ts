import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const OPEN_TO_ALL = 'sluice:open-to-all';
export const TOKEN_IN_QUERY = 'sluice:token-in-query';

/** A route without API key: health, metrics, the API's description. */
export const OpenToAll = (): CustomDecorator => SetMetadata(OPEN_TO_ALL, true);

/** Stream routes, which browsers cannot send headers to, take the key also as `?access_token=` (decisions.md 1.9). */
export const TokenInQuery = (): CustomDecorator => SetMetadata(TOKEN_IN_QUERY, true);
