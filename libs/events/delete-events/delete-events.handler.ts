import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { type DeleteHeaders } from '#libs/stream-log/envelopes.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { pause } from '#libs/async/pause.js';
import { DELAYED_CHANNEL } from '#libs/component-model/channels.js';
import { type DelayedEvents, type DelayedRange, delayedSort } from '#libs/stream-log/delayed-events.js';
import { DELAYED_EVENTS, STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { checkEventId } from '../domain/event-id.js';
import { APPLIED_EVENTS, type AppliedRecords } from '../ports.js';

export interface EventRange {
  /** Channel; undefined means all channels except those of the platform. */
  readonly channel?: string;
  /** Inclusive range of event ids. An absent end is open, and the ids need not exist. */
  readonly startId?: string;
  readonly endId?: string;
}

export class DeleteEvents extends Command<void> {
  constructor(
    readonly sourceId: string,
    readonly workspaceId: string,
    readonly range: EventRange,
  ) {
    super();
  }
}

const APPLIED_MS = 2_000;

/**
 * Appends the deletion to the emitter's topic in order with its events, so events emitted later stay. Resolves when the
 * summaries show the deletion. Resolves after two seconds when the projector lags, because the deletion is durable.
 * Throws event.invalid_id.
 */
@CommandHandler(DeleteEvents)
export class DeleteEventsHandler implements ICommandHandler<DeleteEvents> {
  constructor(
    @Inject(STREAM_LOG) private readonly log: StreamLog,
    @Inject(TOPIC_POLICY) private readonly topics: TopicPolicy,
    @Inject(APPLIED_EVENTS) private readonly applied: AppliedRecords,
    @Inject(DELAYED_EVENTS) private readonly delayed: DelayedEvents,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ sourceId, workspaceId, range }: DeleteEvents): Promise<void> {
    const { channel, startId, endId } = range;
    const start = startId === undefined ? undefined : checkEventId(startId, 'start_id');
    const end = endId === undefined ? undefined : checkEventId(endId, 'end_id');
    if (start !== undefined && end !== undefined && start > end) return;

    const headers: DeleteHeaders = {
      kind: 'delete',
      id: `${this.clock.now()}-0`,
      emitter: sourceId,
      workspace: workspaceId,
      channel: channel ?? '',
      emit: '',
      hops: '0',
      ...(channel === undefined ? { every: '1' } : {}),
      ...(startId === undefined ? {} : { start: startId }),
      ...(endId === undefined ? {} : { end: endId }),
    };
    const waits = channel === DELAYED_CHANNEL ? await this.waitingIn(sourceId, start, end) : undefined;
    const topic = this.topics.emits(sourceId);
    const [offset] = await this.log.publish([{ topic, key: sourceId, headers, value: 'null' }]);
    const deletedMeanwhile = typeof offset !== 'number' || (await this.log.lanes(topic)).length === 0;
    if (deletedMeanwhile) return;
    if (waits) return this.untilCancelled(sourceId, waits);
    await this.applied.waitApplied(await this.log.laneOf(topic, sourceId), offset, APPLIED_MS);
  }

  /** Range of the events that wait now, without those emitted later. */
  private async waitingIn(sourceId: string, from?: string, to?: string): Promise<DelayedRange> {
    const { events } = await this.delayed.page(sourceId, { limit: 1 });
    const newest = events[0] ? delayedSort(events[0].eventId) : '';
    return { ...(from === undefined ? {} : { from }), to: to !== undefined && to < newest ? to : newest };
  }

  /** Waits until the router has cancelled the waiting events, or sent them before. */
  private async untilCancelled(sourceId: string, range: DelayedRange): Promise<void> {
    const deadline = performance.now() + APPLIED_MS;
    for (let ms = 5; await this.delayed.anyIn(sourceId, range); ms = Math.min(ms * 2, 100)) {
      if (performance.now() > deadline) return;
      await pause(ms);
    }
  }
}
