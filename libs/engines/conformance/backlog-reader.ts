import { setTimeout as delay } from 'node:timers/promises';
import { type LaneBatch, type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';

/** A backlog in many lanes that is larger than the memory of the process that reads it. */
export interface Backlog {
  readonly lanes: number;
  readonly records: number;
  /** Bytes of each record. */
  readonly bytes: number;
}

export const BACKLOG: Backlog = { lanes: 300, records: 60, bytes: 50 * 1024 };
/** Lanes whose handler ends at once and whose records are acknowledged when all other lanes have ended. */
const STUCK = 40;
/** Duration of the work on a record of any other lane. */
const WORK_MS = 5;

const topicOf = (lane: number): string => `t.${lane}`;

export const writeBacklog = async (log: StreamLog, { lanes, records, bytes }: Backlog): Promise<void> => {
  const value = JSON.stringify({ text: 'x'.repeat(bytes) });
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let lane = next++; lane < lanes; lane = next++) {
      const topic = topicOf(lane);
      await log.createTopic(topic, {});
      const all = Array.from({ length: records }, (_, n): LogRecord => ({
        topic,
        key: 'k',
        headers: { n: String(n) },
        value,
      }));
      for (let n = 0; n < records; n += 20) await log.publish(all.slice(n, n + 20));
    }
  };
  await Promise.all(Array.from({ length: 16 }, writer));
};

/**
 * Reads the backlog as a runner does: the handler ends at once, and the records are worked off one after another. The
 * stuck lanes keep their records until the others have ended. Resolves with the number of records of each lane, in
 * order.
 */
export const readBacklog = async (
  log: StreamLog,
  group: string,
  { lanes, records }: Backlog,
): Promise<readonly number[]> => {
  const read = new Map<string, number>();
  const works = new Map<string, Promise<void>>();
  let othersEnded: () => void = () => undefined;
  const others = new Promise<void>((resolve) => (othersEnded = resolve));
  let ended: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (ended = resolve));
  let [left, leftOfOthers] = [lanes * records, (lanes - STUCK) * records];

  const work = async (batch: LaneBatch, isStuck: boolean): Promise<void> => {
    const { lane } = batch;
    if (isStuck) await others;
    for (const { offset, headers } of batch.records) {
      if (!isStuck) await delay(WORK_MS);
      const next = read.get(lane) ?? 0;
      if (headers['n'] !== String(next)) throw new Error(`record ${headers['n']} of ${lane} came instead of ${next}`);
      read.set(lane, next + 1);
      batch.ack(offset);
      if (!isStuck && --leftOfOthers === 0) othersEnded();
      if (--left === 0) ended();
    }
  };
  const stuck = new Set(Array.from({ length: STUCK }, (_, lane) => topicOf(lane)));
  const consumer = await log.consume({
    group,
    topics: { prefix: 't.' },
    maxBatch: 64,
    maxUnacked: 512,
    handler: async (batch) => {
      const before = works.get(batch.lane) ?? Promise.resolve();
      works.set(
        batch.lane,
        before.then(() => work(batch, stuck.has(batch.topic))),
      );
    },
  });
  await all;
  await consumer.close();
  return [...read.values()];
};
