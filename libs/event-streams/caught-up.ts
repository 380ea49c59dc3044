import { pause } from '#libs/async/pause.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';

const APPLIED_MS = 10_000;
const LOOK_MS = 25;

/**
 * Waits until the group has handled every record that the key's lane has now, so that a reader of what the group wrote
 * and of all later records misses none. Resolves with false when that takes too long.
 */
export const isCaughtUp = async (
  log: Pick<StreamLog, 'lanes' | 'laneOf' | 'committed' | 'endOf' | 'lag'>,
  { group, topic, key }: { readonly group: string; readonly topic: string; readonly key: string },
): Promise<boolean> => {
  if ((await log.lanes(topic)).length === 0) return true;
  const lane = await log.laneOf(topic, key);
  const committed = async (): Promise<number> => (await log.committed(group, topic))[lane] ?? -1;
  const end = await log.endOf(lane);
  // Offsets may have gaps, so an empty lag also ends the wait.
  for (const until = performance.now() + APPLIED_MS; performance.now() < until; await pause(LOOK_MS)) {
    if ((await committed()) + 1 >= end) return true;
    if (((await log.lag(group, { names: [topic] }))[lane] ?? 0) === 0) return true;
  }
  return false;
};
