import { SetMetadata, type CustomDecorator, type Type } from '@nestjs/common';

export const OPERATION = 'sluice:operation';

/** Description of a route in the OpenAPI document, in addition to its path. */
export interface OperationInfo {
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Class with class-validator decorators for the query parameters. The body may hold them too. */
  readonly query?: Type;
  /** Class with class-validator decorators for the body. The query may hold the same parameters. */
  readonly body?: Type;
  /** Object fields of the body that no class describes, as name to description. */
  readonly objects?: Readonly<Record<string, string>>;
  /** Whether the route takes `limit`, `after` and `before` and answers with `page_info`. */
  readonly paged?: boolean;
  /** Query parameters that no class describes, as name to description. */
  readonly also?: Readonly<Record<string, string>>;
}

/** Stores metadata only. The library that builds the OpenAPI document is loaded at the first request for it. */
export const Operation = (info: OperationInfo): CustomDecorator => SetMetadata(OPERATION, info);
