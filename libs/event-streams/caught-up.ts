import { pause } from '#libs/async/pause.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';

const APPLIED_MS = 10_000;
const LOOK_MS = 25;

type Progress = Pick<StreamLog, 'committed' | 'lag'>;

/** A lane, and an offset above those of its records at some time. */
interface LaneEnd {
  readonly topic: string;
  readonly lane: string;
  readonly end: number;
}

/**
 * Waits until the group has handled every record that the key's lane has now, so that a reader of what the group wrote
 * and of all later records misses none. Resolves with false when that takes too long.
 */
export const isCaughtUp = async (
  log: Progress & Pick<StreamLog, 'lanes' | 'laneOf' | 'endOf'>,
  { group, topic, key }: { readonly group: string; readonly topic: string; readonly key: string },
  withinMs = APPLIED_MS,
): Promise<boolean> => {
  if ((await log.lanes(topic)).length === 0) return true;
  const lane = await log.laneOf(topic, key);
  return reaches(log, group, { topic, lane, end: await log.endOf(lane) }, performance.now() + withinMs);
};

/** Like `isCaughtUp`, for every lane of the topics with this prefix. Waits only for the lanes that are behind. */
export const areCaughtUp = async (
  log: Progress & Pick<StreamLog, 'topics' | 'endOf'>,
  { group, prefix }: { readonly group: string; readonly prefix: string },
): Promise<boolean> => {
  const until = performance.now() + APPLIED_MS;
  const lag = Object.entries(await log.lag(group, { prefix }));
  const behind = lag.flatMap(([lane, records]) => (records > 0 ? [lane] : []));
  if (behind.length === 0) return true;
  const topics = new Set(await log.topics(prefix));
  const ends = await Promise.all(
    behind.map(async (lane) => ({ lane, topic: topicOf(lane, topics), end: await log.endOf(lane) })),
  );
  for (const end of ends) if (!(await reaches(log, group, end, until))) return false;
  return true;
};

const reaches = async (
  log: Progress,
  group: string,
  { topic, lane, end }: LaneEnd,
  until: number,
): Promise<boolean> => {
  const committed = async (): Promise<number> => (await log.committed(group, topic))[lane] ?? -1;
  // Offsets may have gaps, so an empty lag also ends the wait.
  for (; performance.now() < until; await pause(LOOK_MS)) {
    if ((await committed()) + 1 >= end) return true;
    if (((await log.lag(group, { names: [topic] }))[lane] ?? 0) === 0) return true;
  }
  return false;
};

/** A topic of several lanes, of which a log has few, begins their names. */
const topicOf = (lane: string, topics: ReadonlySet<string>): string =>
  topics.has(lane) ? lane : ([...topics].find((topic) => lane.startsWith(topic)) ?? lane);
