import { Rounds } from '#libs/async/rounds.js';
import {
  areCaughtUp,
  type Asked,
  isCaughtUp,
  type KeptReader,
  type KeptRecords,
  type LiveRecord,
  type Shown,
  type StreamSource,
} from '#libs/event-streams/index.js';
import { truncateJson } from '#libs/http/truncate-event.js';
import { emitterHeaders, eventParts } from '#libs/stream-log/envelopes.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { projectorGroup } from '#libs/stream-log/stream-projector.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { EMITS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type ListedEvent } from '../event-summary.js';
import { eventSummaries, MAX_SHORT_BYTES } from '../read-models/event-summaries.projection.js';
import { type KeptSummaries } from './kept-summaries.js';
import { shownSummary, streamOf } from './shown-summary.js';

type Emitted = ListedEvent['doc'] & { readonly workspaceId: string };

/** An event on its way to open streams, in each form that one of them asks for. */
class LiveSummary {
  private short: Shown | undefined;
  private whole: Shown | undefined;

  constructor(
    readonly doc: Emitted,
    private readonly text: string,
  ) {}

  /** A channel has one stream, so `name` is the same at each call. */
  shown(name: string, isWhole: boolean): Shown {
    const { doc, text } = this;
    if (isWhole) return (this.whole ??= shownSummary(name, doc, () => ({ doc, event: text, truncated: false })));
    return (this.short ??= shownSummary(name, doc, () => {
      const { text: event, truncated } = truncateJson(text, MAX_SHORT_BYTES);
      return { doc, event, truncated };
    }));
  }
}

/** Undefined for a record without an event for readers, such as a deletion or a waiting event. */
const liveSummaryOf = (record: LogRecord): LiveSummary | undefined => {
  const headers = emitterHeaders(record);
  if (headers.kind !== 'emit' || sortableEventId(headers.id) === undefined) return undefined;
  const { id: eventId, emitter: emitterId, workspace: workspaceId, channel, emit: emitId } = headers;
  const { nostore: _, ...parts } = eventParts(headers);
  return new LiveSummary({ emitterId, workspaceId, channel, eventId, emitId, ...parts }, record.value);
};

/** Events, log lines and errors of sources and workflows, as event summaries. */
export class SummarySource implements StreamSource {
  readonly names = ['events', 'logs', 'errors'];
  readonly topics = EMITS;
  private readonly lanes = { group: projectorGroup(eventSummaries.name), prefix: EMITS };
  private readonly rounds: Rounds<boolean>;

  constructor(
    private readonly log: StreamLog,
    private readonly policy: TopicPolicy,
    private readonly summaries: KeptSummaries,
  ) {
    this.rounds = new Rounds(() => areCaughtUp(log, this.lanes));
  }

  keyOf({ emitterId, workspaceId }: Asked): string {
    return emitterId ?? workspaceId;
  }

  show(live: LiveRecord, asked: Asked): readonly Shown[] {
    const summary = live.once(liveSummaryOf);
    if (!summary || summary.doc.workspaceId !== asked.workspaceId) return [];
    if (asked.emitterId !== undefined && summary.doc.emitterId !== asked.emitterId) return [];
    const name = streamOf(summary.doc.channel, asked);
    return name === undefined ? [] : [summary.shown(name, asked.whole)];
  }

  caughtUp({ emitterId }: Asked): Promise<boolean> {
    if (emitterId === undefined) return this.rounds.run();
    const { group } = this.lanes;
    return isCaughtUp(this.log, { group, topic: this.policy.emits(emitterId), key: emitterId });
  }

  kept(asked: Asked, since: number, reader: KeptReader): Promise<KeptRecords> {
    return this.summaries.since(asked, since, reader);
  }
}
