import { type LiveRecord } from './live-record.js';

/** What a reader of a workspace's stream asked for. */
export interface Asked {
  readonly workspaceId: string;
  /** Names of streams. */
  readonly streams: ReadonlySet<string>;
  readonly emitterId?: string;
  readonly webhookId?: string;
  /** Channel of events: empty for the default one, `*` for each channel that components emit on. */
  readonly eventName: string;
  /** Events are whole instead of shortened. */
  readonly whole: boolean;
}

/** A record as a workspace's stream sends it. */
export interface Shown {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Encoded when it is first read, because a stream may leave it out. */
  readonly frame: Buffer;
}

/** The reader of kept records. */
export interface KeptReader {
  readonly userId: string;
  /** Whether the reader is gone. Then nothing more is read. */
  readonly isOver: () => boolean;
}

export interface KeptRecords {
  /** Epoch milliseconds since which nothing is missing, where what came before is not all kept. */
  readonly gap?: number;
  /** Oldest first. */
  readonly records: AsyncIterable<Shown>;
}

/** What a workspace's stream can show of one kind of records. */
export interface StreamSource {
  /** Names of the streams that it fills, which are the `event:` of their records. */
  readonly names: readonly string[];
  /** Beginning of the names of the topics of its records. */
  readonly topics: string;
  /** Key of the records that were asked for, or their workspace. */
  keyOf(asked: Asked): string;
  /** What the stream shows of a record. Streams that show the same share its buffers. Must not throw. */
  show(live: LiveRecord, asked: Asked): readonly Shown[];
  /** Waits until what is kept has all records up to now. Resolves with false when that takes too long. */
  caughtUp(asked: Asked): Promise<boolean>;
  /** What is kept since a time in epoch milliseconds, which may be more. */
  kept(asked: Asked, since: number, reader: KeptReader): Promise<KeptRecords>;
}

/** Time of a record, and its id. */
interface Cursor {
  readonly at: number;
  readonly id: string;
}

/** Longest cursor, in characters. Event ids and names of channels are shorter. */
const MAX_CURSOR = 400;
const CURSOR = /^(\d{1,15})\/[\x21-\x7e]*$/;

export const cursorOf = ({ at, id }: Cursor): string => `${Math.floor(at)}/${id}`;

/** Time of a cursor in epoch milliseconds; undefined for a text that is none. */
export const timeOfCursor = (cursor: string): number | undefined => {
  const [, at] = cursor.length > MAX_CURSOR ? [] : (CURSOR.exec(cursor) ?? []);
  return at === undefined ? undefined : Number(at);
};

/**
 * The event of a record.
 *
 * @param json makes the data, as one line or several: a line break in JSON is white space, and would end a line of the
 * stream.
 */
export const shownRecord = (name: string, cursor: Cursor, json: () => string): Shown => {
  let made: Buffer | undefined;
  return {
    at: cursor.at,
    get frame() {
      const data = (): string => json().replace(/[\r\n]+/g, ' ');
      return (made ??= Buffer.from(`event: ${name}\nid: ${cursorOf(cursor)}\ndata: ${data()}\n\n`));
    },
  };
};
