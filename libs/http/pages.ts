import { DomainError } from '#libs/kernel/domain-error.js';
import { type Doc, type Page, type PageQuery } from '#libs/kernel/read-model-store.js';
import { type Warning } from '#libs/kernel/warning.js';
import { describe, type Parameters } from './parameters.js';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;
const MAX_CURSOR = 400;

export interface ListReply<T> {
  readonly page_info: {
    readonly total_count: number;
    readonly count: number;
    readonly start_cursor: string | null;
    readonly end_cursor: string | null;
  };
  readonly data: readonly T[];
}

export interface WarnedList<T> extends ListReply<T> {
  readonly warnings?: readonly Warning[];
}

/**
 * Reads `limit`, `after` and `before` of a list (docs/reference/rest-api.md#paging). Throws request.invalid_parameter
 * or request.invalid_cursor.
 * @param sortOf as in PageQuery.
 */
export const pageQuery = (params: Parameters, sortOf?: PageQuery['sortOf']): Omit<PageQuery, 'where'> => {
  const after = cursorOf(params, 'after');
  const before = cursorOf(params, 'before');
  return {
    limit: pageLimit(params),
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
    ...(sortOf === undefined ? {} : { sortOf }),
  };
};

/** Reads a limit from 1 to 100, default 10; more is clamped. Throws request.invalid_parameter for anything else. */
export const pageLimit = (params: Parameters): number => {
  const given = params['limit'];
  if (given === undefined || given === null || given === '') return DEFAULT_LIMIT;
  const text = typeof given === 'number' ? String(given) : given;
  if (typeof text !== 'string' || !/^\+?\d+$/.test(text.trim()) || Number(text) < 1) {
    throw new DomainError(
      'request.invalid_parameter',
      `parameter limit must be an integer from 1 to ${MAX_LIMIT}; got ${describe(given)}`,
      { field: 'limit', limit: MAX_LIMIT, actual: describe(given) },
    );
  }
  return Math.min(Number(text), MAX_LIMIT);
};

/** Builds the reply of a paged list. The cursors are those of its first and last document, null on an empty page. */
export const listReply = <D extends Doc, T>(page: Page<D>, render: (doc: D) => T): ListReply<T> => {
  const first = page.docs[0];
  const last = page.docs.at(-1);
  return {
    page_info: {
      total_count: page.total,
      count: page.docs.length,
      start_cursor: first ? encodeCursor(first.id) : null,
      end_cursor: last ? encodeCursor(last.id) : null,
    },
    data: page.docs.map(render),
  };
};

/** Encodes an id as base64 without padding. */
export const encodeCursor = (id: string): string => Buffer.from(id, 'utf8').toString('base64').replace(/=+$/, '');

/** Decodes either base64 alphabet, padded or not. Throws request.invalid_cursor for a text that is no cursor. */
export const decodeCursor = (cursor: string, field = 'after'): string => {
  if (cursor.length > MAX_CURSOR) throw invalidCursor(cursor, field);
  // A `+` of the standard alphabet arrives as a blank when the client did not escape it in the query.
  const plain = cursor.trim().replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  const id = Buffer.from(plain, 'base64').toString('utf8');
  if (!/^[\w.:*$-]+$/.test(id) || encodeCursor(id) !== plain) throw invalidCursor(cursor, field);
  return id;
};

const cursorOf = (params: Parameters, field: 'after' | 'before'): string | undefined => {
  const given = params[field];
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given !== 'string') throw invalidCursor(describe(given), field);
  return decodeCursor(given, field);
};

const invalidCursor = (actual: unknown, field: string): DomainError =>
  new DomainError(
    'request.invalid_cursor',
    `parameter ${field} must be a cursor from page_info of this list; got ${String(describe(actual))}`,
    { field, actual: describe(actual) },
  );
