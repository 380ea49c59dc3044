import { streamNameFilter, type Filter } from '@eventstore/db-client';

/** Positions that a filtered subscription has passed are told each time about this many events were looked at. */
const CHECKPOINT_WINDOW = 256;

/** Names of streams on the server: `<prefix>.<category>-<id>`, or as they are without a prefix. */
export interface StreamNames {
  onServer(stream: string): string;
  /** The name without the prefix; undefined for a stream of the system or of another installation. */
  readonly own: (onServer: string) => string | undefined;
  /** For the server to apply; what it lets through may still belong to a longer prefix. */
  filter(checkpointReached: Filter['checkpointReached'] & object): Filter;
}

/**
 * A dot ends the prefix, and no category holds one: so an installation sees no stream of another whose prefix begins
 * with its own, nor, without a prefix, of any that has one. `{prefix}.{category}` is still the text before the first
 * `-`, which the server's category projection goes by; a prefix with a `-` would make all its streams one category.
 */
export const streamNames = (prefix: string): StreamNames => {
  if (!/^[\w.]*$/.test(prefix)) {
    throw new Error(`the stream prefix may hold letters, digits, "_" and ".", and no "-": "${prefix}"`);
  }
  const start = prefix === '' || prefix.endsWith('.') ? prefix : `${prefix}.`;
  const unprefixed = '^[^$.\\-][^.\\-]*(-|$)';
  const pattern = new RegExp(unprefixed);
  return {
    onServer: (stream) => {
      if (!pattern.test(stream)) throw new Error(`a stream is named {category}-{id}, without "." or "$": "${stream}"`);
      return `${start}${stream}`;
    },
    own: (onServer) => {
      if (!onServer.startsWith(start)) return undefined;
      const stream = onServer.slice(start.length);
      return pattern.test(stream) ? stream : undefined;
    },
    filter: (checkpointReached) => {
      const options = { maxSearchWindow: CHECKPOINT_WINDOW, checkpointInterval: 1, checkpointReached };
      return prefix === ''
        ? streamNameFilter({ ...options, regex: unprefixed })
        : streamNameFilter({ ...options, prefixes: [start] });
    },
  };
};
