import { type Warned, type Warning } from '#libs/kernel/warning.js';
import { type ListReply, type WarnedList } from './pages.js';
import {
  integer,
  listOf,
  named,
  nullable,
  object,
  optional,
  record,
  text,
  type AnySchema,
  type FieldsOf,
  type Schema,
  type TypeOf,
} from './reply-schema.js';

/** Error body of docs/reference/errors.md#error-body. */
export const ErrorReply = named('Error', {
  error: text('For people'),
  code: text('A stable word for programs'),
  details: optional(record('What the error is about, such as `field`, `limit` and `actual`')),
  observations: optional(listOf(record(), 'With code `hook_failed`: what the hooks did')),
  os: optional(listOf(record(), 'With code `action_failed`: what the run logged, and its error last')),
  err: optional(nullable(record('With code `hook_failed`: always null'))),
});

const PageInfo = named('PageInfo', {
  total_count: integer('Number of items of the whole list'),
  count: integer('Number of items on this page'),
  start_cursor: nullable(text('Cursor of the first item, null on an empty page')),
  end_cursor: nullable(text('Cursor of the last item, null on an empty page')),
} satisfies FieldsOf<ListReply<unknown>['page_info']>);

export const WarningReply = named('Warning', {
  code: text('A stable word for programs'),
  message: text('For people: the word found, the word meant and what is allowed'),
  path: text('Place in the component or in the request, such as `props.url.optinal`'),
} satisfies FieldsOf<Warning>);

/** Field of a reply that says what is probably not meant (docs/reference/rest-api.md#reply-warnings). */
export const withWarnings = { warnings: optional(listOf(WarningReply, 'Absent when there are none')) };

/** Reply with one object. */
export const one = <S extends AnySchema>(item: S): Schema<{ readonly data: TypeOf<S> }> => bare(object({ data: item }));

/** Reply with one object and warnings (docs/reference/rest-api.md#reply-warnings). */
export const oneWarned = <S extends AnySchema>(item: S): Schema<Warned<TypeOf<S>>> =>
  bare(object({ data: item, ...withWarnings }));

/** Reply with a whole list. */
export const list = <S extends AnySchema>(item: S): Schema<{ readonly data: readonly TypeOf<S>[] }> =>
  bare(object({ data: listOf(item, 'The whole list') }));

/** Reply with a page of a list. */
export const paged = <S extends AnySchema>(item: S): Schema<ListReply<TypeOf<S>>> =>
  bare(object({ page_info: PageInfo, data: listOf(item, 'The items of the page') }));

/** Page of a list, with warnings about the request (docs/reference/rest-api.md#reply-warnings). */
export const pagedWarned = <S extends AnySchema>(item: S): Schema<WarnedList<TypeOf<S>>> =>
  bare(object({ page_info: PageInfo, data: listOf(item, 'The items of the page'), ...withWarnings }));

/** Drops the type, which the compiler cannot compute for a generic item. */
const bare = ({ json, named: inner }: AnySchema): AnySchema => ({ json, named: inner });
