import { SetMetadata, type CustomDecorator, type Type } from '@nestjs/common';

export const OPERATION = 'sluice:operation';

/** What the API's description says of a route beside its path. */
export interface OperationInfo {
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Class with class-validator decorators: what is read from the query (the body is taken too). */
  readonly query?: Type;
  /** The same, read from the body (the query is taken too). */
  readonly body?: Type;
  /** Fields of the body that no class describes, objects all: name to description. */
  readonly objects?: Readonly<Record<string, string>>;
  /** Takes `limit`, `after`, `before` and answers `page_info`. */
  readonly paged?: boolean;
  /** Parameters of the query that no class describes: name to description. */
  readonly also?: Readonly<Record<string, string>>;
}

/** Metadata only: the library that draws up the description is loaded when somebody asks for it. */
export const Operation = (info: OperationInfo): CustomDecorator => SetMetadata(OPERATION, info);
