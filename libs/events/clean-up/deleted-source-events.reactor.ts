import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type SourceEvent } from '#libs/sources/published.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';

/** Implemented by the projector of the event summaries. */
export interface ForgetsKeys {
  forget(key: string, topics: readonly string[]): Promise<void>;
}

/** Deletes the events and logs of a deleted source (docs/reference/delivery.md#deleted-source). */
export class DeletedSourceEventsReactor implements Reactor {
  readonly name = 'events.clean-up.v1';
  readonly eventTypes: readonly SourceEvent['type'][] = ['SourceDeleted', 'SourceDeploymentFailed'];

  constructor(private readonly deps: { readonly summaries: ForgetsKeys; readonly topics: TopicPolicy }) {}

  async handle(event: RecordedEvent): Promise<void> {
    const sourceId = idOf(event.stream);
    const lanes = this.deps.topics.ownedBy(sourceId).map(({ topic }) => topic);
    await this.deps.summaries.forget(sourceId, lanes);
  }
}
