import { pause } from '#libs/async/pause.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { projectorGroup } from '#libs/stream-log/stream-projector.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type EventDoc, eventSummaries, listOf } from '../read-models/event-summaries.projection.js';
import { liveEvent, type LiveEvent } from './live-event.js';

export interface KeptEventsOptions {
  readonly readModels: ReadModelStore;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  /** Events that a channel keeps. */
  readonly retained: number;
}

const PAGE = 100;
const APPLIED_MS = 10_000;
const LOOK_MS = 25;

/**
 * Waits until the read model has what the log holds now, so that a reader who hears everything from now on misses
 * nothing. Resolves with false when that takes too long.
 */
export const caughtUp = async ({ log, topics }: KeptEventsOptions, emitterId: string): Promise<boolean> => {
  const group = projectorGroup(eventSummaries.name);
  const topic = topics.emits(emitterId);
  if ((await log.lanes(topic)).length === 0) return true;
  const lane = await log.laneOf(topic, emitterId);
  const end = await log.endOf(lane);
  // Offsets may have gaps, so an empty lag also ends the wait.
  for (const until = performance.now() + APPLIED_MS; performance.now() < until; await pause(LOOK_MS)) {
    if (((await log.committed(group, topic))[lane] ?? -1) + 1 >= end) return true;
    if (((await log.lag(group, { names: [topic] }))[lane] ?? 0) === 0) return true;
  }
  return false;
};

/** Kept events of a channel with a greater id, oldest first, whole. Without an id, all of them. */
export async function* keptEventsAfter(
  { readModels, retained }: KeptEventsOptions,
  emitterId: string,
  channel: string,
  lastId: string | undefined,
): AsyncGenerator<LiveEvent> {
  const last = lastId === undefined ? '' : (sortableEventId(lastId) ?? '');
  const newer = await newerThan(readModels, listOf(emitterId, channel), last, retained);
  for (const doc of newer.reverse()) {
    const text = doc.payloadBytes === 0 ? doc.short : await readModels.text(eventSummaries, doc.id);
    // An event without a text was deleted after the list was read.
    const event = text === undefined ? undefined : liveEvent(doc, text);
    if (event) yield event;
  }
}

/** Newest first. */
const newerThan = async (
  readModels: ReadModelStore,
  list: string,
  last: string,
  retained: number,
): Promise<EventDoc[]> => {
  const found: EventDoc[] = [];
  for (let after: string | undefined; found.length < retained;) {
    const limit = Math.min(PAGE, retained - found.length);
    const query = { where: { list }, limit, withTotal: false, ...(after === undefined ? {} : { after }) };
    const { docs } = await readModels.page<EventDoc>(eventSummaries, query);
    const newer = docs.filter(({ sort }) => sort > last);
    found.push(...newer);
    if (newer.length < limit) break;
    after = docs.at(-1)?.id;
  }
  return found;
};
