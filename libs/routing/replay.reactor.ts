import { type Clock } from '#libs/kernel/clock.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type DueEntry, type DueStore } from '#libs/due/due-store.js';
import { type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { emitInvocation } from '#libs/stream-log/invocations.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import {
  type EventFilter,
  type SubscriptionEvent,
  type SubscriptionReplayStarted,
} from '#libs/subscriptions/published.js';
import { Examination } from './event-filter.js';
import { type Emit, deliveryOf } from './route-emit.js';

export interface ReplayDependencies {
  readonly due: Pick<DueStore, 'put' | 'removeOwner'>;
  /** Kept events from `startId` to `endId`, both included, oldest first. */
  readonly eventsIn: (
    emitterId: string,
    channel: string,
    startId: string,
    endId: string,
  ) => AsyncIterable<{ readonly eventId: string; readonly emitId: string; readonly payload: string }>;
  readonly topics: TopicPolicy;
  readonly clock: Clock;
}

/** Most records, and most characters, of one `put`. */
const ENTRIES = 100;
const CHARACTERS = 4 * 1024 * 1024;

/**
 * Schedules the records of a replay, and removes them when it is cancelled or its subscription is deleted
 * (docs/reference/rest-api.md#subscription-replay). Ids derive from the replay, so a record that is scheduled again
 * after a crash runs or is delivered under the same id.
 */
export class ReplayReactor implements Reactor {
  readonly name = 'routing.replay.v1';
  readonly eventTypes: readonly SubscriptionEvent['type'][] = [
    'SubscriptionReplayStarted',
    'SubscriptionReplayCancelled',
    'SubscriptionDeleted',
  ];

  constructor(private readonly deps: ReplayDependencies) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const event = recorded as RecordedEvent & SubscriptionEvent;
    const subscriptionId = idOf(event.stream);
    switch (event.type) {
      case 'SubscriptionReplayStarted':
        return this.schedule(subscriptionId, event.metadata.workspaceId, event.data);
      case 'SubscriptionReplayCancelled':
      case 'SubscriptionDeleted':
        return this.deps.due.removeOwner(subscriptionId);
      default:
        return;
    }
  }

  private async schedule(
    subscriptionId: string,
    workspaceId: string,
    replay: SubscriptionReplayStarted['data'],
  ): Promise<void> {
    const { due, eventsIn, clock } = this.deps;
    const { replayId, emitterId, eventName, startId, endId, filter, rate } = replay;
    const firstAt = Math.max(replay.startedAt, clock.now());
    const kind = isWebhook(replay.listenerId) ? 'delivery' : 'replay';
    let entries: DueEntry[] = [];
    let characters = 0;
    let n = 0;
    for await (const kept of eventsIn(emitterId, eventName, startId, endId)) {
      if (!(await passesInTurns(kept.payload, filter, workspaceId))) continue;
      const record = this.recordOf(kept, subscriptionId, workspaceId, replay);
      const dueAt = firstAt + Math.floor((n++ * 1_000) / rate);
      entries.push({ id: `${replayId}/${kept.eventId}`, owner: subscriptionId, kind, dueAt, record });
      characters += kept.payload.length;
      if (entries.length < ENTRIES && characters < CHARACTERS) continue;
      await due.put(entries);
      entries = [];
      characters = 0;
    }
    if (entries.length > 0) await due.put(entries);
  }

  private recordOf(
    { eventId, emitId, payload }: { readonly eventId: string; readonly emitId: string; readonly payload: string },
    subscriptionId: string,
    workspace: string,
    {
      replayId,
      emitterId: emitter,
      listenerId,
      eventName: channel,
      trigger,
      startedAt,
    }: SubscriptionReplayStarted['data'],
  ): LogRecord {
    const { topics, clock } = this.deps;
    const headers: EmitHeaders = { kind: 'emit', id: eventId, emitter, workspace, channel, emit: emitId, hops: '0' };
    const emit: Emit = { headers, value: payload };
    if (!isWebhook(listenerId)) {
      return emitInvocation(topics, emit, {
        sourceId: listenerId,
        subscriptionId,
        trigger,
        replay: { id: replayId, startedAt },
      });
    }
    // The id includes the replay, so that the record does not count as a repeat of the original.
    const match = { listenerId, subscriptionId: `${subscriptionId}/${replayId}` };
    return deliveryOf(emit, match, topics, clock.now(), replayId);
  }
}

const isWebhook = (listenerId: string): boolean => listenerId.startsWith('wh_');

const passesInTurns = async (
  payload: string,
  filter: EventFilter | undefined,
  workspaceId: string,
): Promise<boolean> => {
  const examination = new Examination(payload);
  let passes = examination.passes(filter);
  while (passes === undefined) {
    await examination.later(workspaceId);
    passes = examination.passes(filter);
  }
  return passes;
};
