import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { type LoggedEvent } from './log.js';

type Filter = ReadReq.Options.FilterOptions;

/** The server's default number of events to check before it returns a page. */
const DEFAULT_WINDOW = 32;

export const passes = (filter: Filter | undefined, { stream, type }: LoggedEvent): boolean => {
  if (!filter) return true;
  const expression = filter.getStreamIdentifier() ?? filter.getEventType();
  const text = filter.hasStreamIdentifier() ? stream : type;
  const prefixes = expression?.getPrefixList() ?? [];
  if (prefixes.length > 0) return prefixes.some((prefix) => text.startsWith(prefix));
  return new RegExp(expression?.getRegex() ?? '').test(text);
};

/** Number of filtered-out events after which a subscription is told the server's progress. */
export const windowOf = (filter: Filter | undefined): number =>
  filter ? (filter.hasMax() ? filter.getMax() : DEFAULT_WINDOW) * filter.getCheckpointintervalmultiplier() : Infinity;
