import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { type EmitHeaders } from '#libs/stream-log/envelopes.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
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
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ sourceId, workspaceId, range }: DeleteEvents): Promise<void> {
    const { channel, startId, endId } = range;
    const start = startId === undefined ? undefined : checkEventId(startId, 'start_id');
    const end = endId === undefined ? undefined : checkEventId(endId, 'end_id');
    if (start !== undefined && end !== undefined && start > end) return;

    const headers: EmitHeaders = {
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
    const topic = this.topics.emits(sourceId);
    const [offset] = await this.log.publish([{ topic, key: sourceId, headers, value: 'null' }]);
    const deletedMeanwhile = typeof offset !== 'number' || (await this.log.lanes(topic)).length === 0;
    if (deletedMeanwhile) return;
    await this.applied.waitApplied(await this.log.laneOf(topic, sourceId), offset, APPLIED_MS);
  }
}
