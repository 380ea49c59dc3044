import { CommandFailure, wrongUsage } from './failure.js';
import { type Fields, fieldText, isFields, objectsIn } from './json.js';
import { type Session, withQuery } from './session.js';

export interface ListOptions {
  readonly number?: string;
  readonly after?: string;
  readonly all?: boolean;
  /** Pages of large items are shorter than their limit. */
  readonly hasShortPages?: boolean;
}

export interface Listed {
  readonly items: readonly Fields[];
  /** Undefined for a list that the API has no pages of. */
  readonly pageInfo: Fields | undefined;
  /** Where the list goes on, for people. */
  readonly hints: readonly string[];
}

/** Items that a command lists, unless `-n` says otherwise. */
const USUAL = 20;
const MOST_IN_PAGE = 100;
/** Items of a list that is read as a whole. */
const MOST = 100_000;

/** Reads as much of a list as is wanted, page by page. */
export const readList = async (
  session: Session,
  path: string,
  options: ListOptions,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<Listed> => {
  const wanted = wantedOf(options);
  const items: Fields[] = [];
  let [after, first, last]: [string | undefined, unknown, unknown] = [options.after, null, null];
  for (;;) {
    const limit = Math.min(MOST_IN_PAGE, wanted - items.length);
    const { data, page_info: info } = await session.request({
      method: 'GET',
      path: withQuery(path, { ...query, limit: String(limit), after }),
    });
    const page = objectsIn(data);
    if (!isFields(info)) return wholeList(page, options, wanted);
    items.push(...page);
    [first, last] = [first ?? info['start_cursor'], info['end_cursor'] ?? last];
    const total = info['total_count'];
    const pageInfo = { total_count: total, count: items.length, start_cursor: first, end_cursor: last };
    if (page.length < limit && !(options.hasShortPages === true && page.length > 0))
      return { items, pageInfo, hints: [] };
    const next = fieldText(info, 'end_cursor');
    // A server that repeats a page would never end.
    if (next !== '' && next === after) throw endless(session);
    after = next;
    if (items.length < wanted && after !== '') continue;
    if (options.all === true && after !== '' && items.length !== total) throw tooLong();
    const isRest = after !== '' && (options.after !== undefined || items.length !== total);
    return { items, pageInfo, hints: isRest ? [`${items.length} of ${String(total)}; more: --after ${after}`] : [] };
  }
};

const wantedOf = ({ number, after, all = false }: ListOptions): number => {
  if (all && (number !== undefined || after !== undefined))
    throw wrongUsage('--all lists all: leave out -n and --after');
  if (all) return MOST;
  const wanted = Number(number ?? USUAL);
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= MOST) return wanted;
  throw wrongUsage(`-n must be an integer from 1 to ${MOST}; got ${JSON.stringify((number ?? '').slice(0, 100))}`);
};

const endless = ({ server }: Session): CommandFailure =>
  new CommandFailure({
    exit: 1,
    code: 'unexpected_answer',
    message: `${server.url} answered with the same page twice: check the address and the version of the server`,
  });

const tooLong = (): CommandFailure =>
  wrongUsage(`the list has more than ${MOST} items, which is more than --all reads: use -n and --after`);

const wholeList = (all: readonly Fields[], { after }: ListOptions, wanted: number): Listed => {
  if (after !== undefined) throw wrongUsage('this list has no pages: leave out --after');
  const items = all.slice(0, wanted);
  const hints = items.length < all.length ? [`${items.length} of ${all.length}; more: --all`] : [];
  return { items, pageInfo: undefined, hints };
};
