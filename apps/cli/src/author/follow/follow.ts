import { wrongUsage } from '../failure.js';
import { type Told } from '../command.js';
import { type Context } from '../context.js';
import { type Fields, jsonLine } from '../json.js';
import { spanMs } from '../span.js';
import { harmless, type Line, printed } from '../text.js';
import { Follower, type Following } from './follower.js';
import { Forward, forwardTo, sentLine } from './forward.js';

export interface FollowOptions {
  readonly follow?: boolean;
  readonly count?: string;
  readonly for?: string;
  readonly forward?: string;
}

/** What ends a follower without Ctrl-C, and where its records go. */
export interface FollowRules {
  /** Records after the history. */
  readonly count: number;
  readonly forMs: number | undefined;
  readonly forward: string | undefined;
}

/** Longest time of a timer. */
const MOST_MS = 2 ** 31 - 1;

/** Undefined without `-f`. Throws CommandFailure. */
export const followedBy = (options: FollowOptions): FollowRules | undefined => {
  const { follow = false, count, for: time, forward } = options;
  if (!follow) {
    const [alone] = Object.entries({ count, for: time, forward }).filter(([, given]) => given !== undefined);
    if (alone) throw wrongUsage(`--${alone[0]} needs --follow`);
    return undefined;
  }
  if (count !== undefined && !/^[1-9]\d{0,8}$/.test(count))
    throw wrongUsage(`--count must be an integer from 1 on; got ${JSON.stringify(count.slice(0, 100))}`);
  return {
    count: Number(count ?? Infinity),
    forMs: time === undefined ? undefined : Math.min(spanMs('--for', time), MOST_MS),
    forward: forward === undefined ? undefined : forwardTo(forward),
  };
};

/** What is followed. */
export interface FollowedSource {
  readonly open: Following['open'];
  /** Oldest first. */
  readonly history: () => Promise<readonly Fields[]>;
  /** Name of the stream. */
  readonly stream: string;
  /** Default: all. */
  readonly isShown?: (record: Fields) => boolean;
  readonly lineFor: (record: Fields) => Line;
}

/** Prints the history and then what comes. Resolves when a rule ends it. Rejects when the server refuses the stream. */
export const follow = async (
  context: Context,
  { count, forMs, forward }: FollowRules,
  { open, history, stream, isShown = () => true, lineFor }: FollowedSource,
): Promise<Told> => {
  const { io, look, globals, interrupted } = context;
  const tell = (text: string): void => io.err(harmless(text));
  const print = (record: Fields): void => io.out(globals.json ? jsonLine(record) : printed(lineFor(record), look));
  interrupted.exit = 0;
  const ended = new AbortController();
  const follower = new Follower({ open, tell, signal: ended.signal });
  const sent = forward === undefined ? undefined : new Forward(forward, (each) => tell(sentLine(each)));
  if (sent) tell(`Signed with ${sent.key}`);
  // Records that come while the history is read wait in the connection.
  await follower.connect();
  const timer = forMs === undefined ? undefined : setTimeout(() => ended.abort(), forMs);
  try {
    for (const record of await history()) if (!follower.isRepeat(stream, record)) print(record);
    let left = count;
    for await (const { data } of follower.records()) {
      if (!isShown(data)) continue;
      print(data);
      await sent?.send(data);
      if (--left === 0) break;
    }
    await sent?.idle();
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
  return { data: null, lines: [], streamed: true };
};
