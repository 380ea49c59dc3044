import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { type LoggedEvent } from './log.js';

type Filter = ReadReq.Options.FilterOptions;

/** The server's default for how many events it looks at before it returns a page. */
const DEFAULT_WINDOW = 32;

export const passes = (filter: Filter | undefined, { stream, type }: LoggedEvent): boolean => {
  if (!filter) return true;
  const expression = filter.getStreamIdentifier() ?? filter.getEventType();
  const text = filter.hasStreamIdentifier() ? stream : type;
  const prefixes = expression?.getPrefixList() ?? [];
  if (prefixes.length > 0) return prefixes.some((prefix) => text.startsWith(prefix));
  return new RegExp(expression?.getRegex() ?? '').test(text);
};

/** After how many events that it filtered out a subscription is told how far the server has come. */
export const windowOf = (filter: Filter | undefined): number =>
  filter ? (filter.hasMax() ? filter.getMax() : DEFAULT_WINDOW) * filter.getCheckpointintervalmultiplier() : Infinity;
