/**
 * Something in a request or a component that is accepted but probably not meant. A reply lists warnings beside `data`,
 * and leaves the list out when there are none.
 */
export interface Warning {
  /** Stable word in snake_case. */
  readonly code: string;
  /** Names the word found, the word meant and what is allowed. */
  readonly message: string;
  /** Place in the component or in the request, such as `props.url.optinal` or `configured_props.naem`. */
  readonly path: string;
}

/** Reply with one object, and with the warnings about it unless there are none. */
export interface Warned<T> {
  readonly data: T;
  readonly warnings?: readonly Warning[];
}

export const warned = <T>(data: T, warnings: readonly Warning[] = []): Warned<T> => ({ data, ...warningsIn(warnings) });

/** Field of a reply that lists warnings. Absent when there are none. */
export const warningsIn = (warnings: readonly Warning[]): { readonly warnings?: readonly Warning[] } =>
  warnings.length === 0 ? {} : { warnings };
