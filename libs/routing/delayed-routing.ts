import { delayedInvocation } from '#libs/stream-log/invocations.js';
import { type DueStore } from '#libs/due/due-store.js';
import {
  type DelayedEvent,
  type DelayedEvents,
  type DelayedKey,
  type DelayedRange,
  delayedSort,
} from '#libs/stream-log/delayed-events.js';
import { type DelayHeaders, type DeleteHeaders, emitterHeaders, eventParts } from '#libs/stream-log/envelopes.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { type LogRecord, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { DELAYED_CHANNEL } from '#libs/component-model/channels.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { delayedAlarm, delayedAlarmId } from './delayed-alarm.js';

export interface DelayedRoutingOptions {
  readonly log: { publish(records: readonly LogRecord[]): Promise<readonly (number | null)[]> };
  readonly topics: TopicPolicy;
  readonly delayed: Pick<DelayedEvents, 'put' | 'find' | 'remove' | 'removeRange'>;
  readonly due: Pick<DueStore, 'put' | 'remove'>;
}

type Step =
  | { readonly kind: 'put'; readonly event: DelayedEvent }
  | { readonly kind: 'release'; readonly sourceId: string; readonly eventId: string }
  | { readonly kind: 'cancel'; readonly sourceId: string; readonly range: DelayedRange };

/**
 * Applies the records of one batch that concern delayed events, in lane order. An event is cancelled or released,
 * whichever comes first in the lane. A repeat of the batch has the same result, and releases carry the same ids. An
 * alarm is stored with its event and removed after it. An alarm whose event is gone is removed.
 */
export class DelayedRouting {
  private steps: Step[] = [];

  constructor(private readonly options: DelayedRoutingOptions) {}

  get size(): number {
    return this.steps.length;
  }

  /** Accepts any record, and ignores one that concerns no delayed event or cannot be parsed. */
  add(record: StoredRecord): void {
    const step = stepOf(record);
    if (step) this.steps.push(step);
  }

  /** Resolves once all steps are durable. */
  async flush(): Promise<void> {
    const steps = this.steps.splice(0);
    // Consecutive steps of one kind share their writes.
    for (let from = 0; from < steps.length;) {
      const kind = steps[from]?.kind;
      let to = from + 1;
      while (steps[to]?.kind === kind) to++;
      await this.apply(steps.slice(from, to));
      from = to;
    }
  }

  private async apply(steps: readonly Step[]): Promise<void> {
    const { delayed, due } = this.options;
    const put = steps.flatMap((step) => (step.kind === 'put' ? [step.event] : []));
    // The alarm may become durable first, because its record follows these in the lane.
    if (put.length > 0) return void (await Promise.all([delayed.put(put), due.put(put.map(delayedAlarm))]));
    for (const step of steps) {
      if (step.kind !== 'cancel') continue;
      const removed = await delayed.removeRange(step.sourceId, step.range);
      await due.remove(removed.map((sort) => delayedAlarmId(step.sourceId, sort)));
    }
    await this.release(steps.flatMap((step) => (step.kind === 'release' ? [step] : [])));
  }

  /** Publishes, then removes. A crash in between repeats the release under the same id. */
  private async release(steps: readonly DelayedKey[]): Promise<void> {
    const { delayed, due, log, topics } = this.options;
    if (steps.length === 0) return;
    const events: DelayedEvent[] = [];
    for (const { sourceId, eventId } of steps) {
      const event = await delayed.find(sourceId, eventId);
      if (event) events.push(event);
    }
    if (events.length > 0) await log.publish(events.map((event) => delayedInvocation(topics, event)));
    await delayed.remove(events);
    await due.remove(steps.map(({ sourceId, eventId }) => delayedAlarmId(sourceId, delayedSort(eventId))));
  }
}

const stepOf = (record: StoredRecord): Step | undefined => {
  const headers = emitterHeaders(record);
  const sourceId = headers.emitter;
  switch (headers.kind) {
    case 'delay':
      return putOf(headers, record.value);
    case 'due': {
      const eventId = headers.event;
      return sortableEventId(eventId) === undefined ? undefined : { kind: 'release', sourceId, eventId };
    }
    case 'delete':
      return headers.channel === DELAYED_CHANNEL ? { kind: 'cancel', sourceId, range: rangeOf(headers) } : undefined;
    case 'emit':
    case 'runs':
      return undefined;
  }
};

const putOf = (headers: DelayHeaders, payload: string): Step | undefined => {
  const { emitter: sourceId, workspace: workspaceId, id: eventId, emit: emitId, out, deliver, hops } = headers;
  const dueAt = Number(deliver);
  if (!Number.isSafeInteger(dueAt) || sortableEventId(eventId) === undefined) return undefined;
  const event: DelayedEvent = {
    sourceId,
    workspaceId,
    eventId,
    emitId,
    channel: out,
    dueAt,
    hops: Number(hops),
    ...eventParts(headers),
    payload,
  };
  return { kind: 'put', event };
};

const rangeOf = ({ start, end }: DeleteHeaders): DelayedRange => {
  const from = start === undefined ? undefined : sortableEventId(start);
  const to = end === undefined ? undefined : sortableEventId(end);
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
};
