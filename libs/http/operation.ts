import { SetMetadata, type Type } from '@nestjs/common';
import { type Changed } from './changed.js';
import { type AnySchema, type Schema } from './reply-schema.js';

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
  /** Describes a body that is one document, as JSON or YAML, with a schema of its own. */
  readonly document?: string;
  /** Whether the route takes `limit`, `after` and `before` and answers with `page_info`. */
  readonly paged?: boolean;
  /** Whether a page has whole events, also without `expand=event`. Its limit then counts before it is read. */
  readonly whole?: boolean;
  /** Query parameters that no class describes, as name to description. */
  readonly also?: Readonly<Record<string, string>>;
  /** Parameters that limit what is made. A misspelt one is refused, because what is made without the limit does harm. */
  readonly limits?: readonly string[];
  /** Body of the success reply. Absent when the reply has no body. */
  readonly reply?: AnySchema;
  /** Media type of the success reply; JSON by default. */
  readonly produces?: string;
  /** Statuses with which this route refuses, beside those of all routes of its kind. */
  readonly refusals?: readonly number[];
  /** Further replies of the route, by status. A route that never succeeds has only these. */
  readonly replies?: Readonly<Record<number, { readonly description: string; readonly schema: AnySchema }>>;
}

type Answer<R> = R | Promise<R> | Changed<R> | Promise<Changed<R>>;

/** Type of a route's reply; `never` when it always fails. */
type Sent<A> = Awaited<A> extends Changed<infer R> ? R : Awaited<A>;

/** Refuses a route that sends fields which the schema does not have. */
type NoMore<R, A> = [Sent<A>] extends [never] ? unknown : [R] extends [Sent<A>] ? unknown : never;

/**
 * Describes a route. The compiler checks that its method answers with what `reply` describes, no less and no more.
 * Stores metadata only. The library that builds the OpenAPI document is loaded at the first request for it.
 */
export const Operation =
  <R = void>(info: OperationInfo & { readonly reply?: Schema<R> }) =>
  <A extends Answer<NoInfer<R>>>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<(...args: never[]) => A> & NoMore<R, A>,
  ): void => {
    SetMetadata(OPERATION, info)(target, key, descriptor);
  };
