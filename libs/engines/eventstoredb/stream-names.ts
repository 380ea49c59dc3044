import { streamNameFilter, type Filter } from '@eventstore/db-client';

/** A filtered subscription reports its position about once per this many scanned events. */
const CHECKPOINT_WINDOW = 256;

/** Names of streams on the server: `<prefix>.<category>-<id>`. */
export interface StreamNames {
  onServer(stream: string): string;
  /** The name without the prefix; undefined for a stream of the system or of another installation. */
  readonly own: (onServer: string) => string | undefined;
  /** Filter for the server to apply. Streams of a longer prefix may still pass it. */
  filter(checkpointReached: Filter['checkpointReached'] & object): Filter;
}

/**
 * A dot ends the prefix, and no category contains one. So an installation does not see streams of another whose prefix
 * begins with its own. The server's category projection uses the text before the first `-`, here `{prefix}.{category}`. A
 * prefix with a `-` would put all its streams in one category.
 */
export const streamNames = (prefix: string): StreamNames => {
  if (!/^[\w.]+$/.test(prefix)) {
    throw new Error(`the stream prefix holds letters, digits, "_" and ".", and no "-": "${prefix}"`);
  }
  const start = prefix.endsWith('.') ? prefix : `${prefix}.`;
  const pattern = /^[^$.-][^.-]*(-|$)/;
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
    filter: (checkpointReached) =>
      streamNameFilter({
        maxSearchWindow: CHECKPOINT_WINDOW,
        checkpointInterval: 1,
        checkpointReached,
        prefixes: [start],
      }),
  };
};
