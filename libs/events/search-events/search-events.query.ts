import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { PLATFORM_CHANNELS } from '#libs/component-model/channels.js';
import { type ReadModelStore, type ScanPlace, type ScanQuery } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type EventDoc, eventSummaries, familyOf, listOf } from '../read-models/event-summaries.projection.js';

export interface WantedEvents {
  readonly workspaceId: string;
  /** An emitter of the workspace. Undefined for all. */
  readonly emitterId: string | undefined;
  /** Undefined for all channels but those of the platform. */
  readonly channel: string | undefined;
  readonly invocationId: string | undefined;
  /** Part of the summary, an id, or the start of the payload's text, in any case. Undefined for any. */
  readonly text: string | undefined;
  /** Epoch milliseconds, both included. */
  readonly since: number | undefined;
  readonly until: number | undefined;
}

export interface FoundEvents {
  readonly docs: readonly EventDoc[];
  /** Place up to which was searched. Null when everything was. */
  readonly searchedTo: ScanPlace | null;
}

/** Most that one request examines. See docs/reference/limits.md#event-search. */
export const SEARCH_LIMITS = { events: 20_000, chars: 16 * 1024 * 1024, ms: 1_000 } as const;
/** Documents of a scan, so that a reader that leaves and the time are noticed soon. */
const SLICE = 500;

/** Searches the kept events of a workspace, newest first. Ends early when the signal aborts. */
export class SearchEvents extends Query<FoundEvents> {
  constructor(
    readonly wanted: WantedEvents,
    readonly page: { readonly limit: number; readonly after: ScanPlace | undefined },
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

@QueryHandler(SearchEvents)
export class SearchEventsHandler implements IQueryHandler<SearchEvents> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ wanted, page, signal }: SearchEvents): Promise<FoundEvents> {
    const endsAt = performance.now() + SEARCH_LIMITS.ms;
    const list = listWith(wanted);
    const docs: EventDoc[] = [];
    let { after } = page;
    let { events, chars } = SEARCH_LIMITS as { readonly events: number; readonly chars: number };
    for (;;) {
      const found = await this.readModels.scan<EventDoc>(eventSummaries, {
        ...list,
        ...(after === undefined ? {} : { after }),
        limit: page.limit - docs.length,
        examine: Math.min(SLICE, events),
        chars,
      });
      docs.push(...found.docs);
      events -= found.examined;
      chars -= found.chars;
      if (found.next === null) return { docs, searchedTo: null };
      after = found.next;
      const isOver = events <= 0 || chars <= 0 || performance.now() >= endsAt || signal.aborted;
      if (docs.length >= page.limit || isOver) return { docs, searchedTo: after };
    }
  }
}

const MOST_SEQUENCE = '9'.repeat(10);
/** Fields of an event that a text is looked for in, beside the payload that is stored beside them. */
const COMPARED = ['summary', 'eventId', 'emitId', 'dedupe', 'short'] as const satisfies readonly (keyof EventDoc)[];

const listWith = (wanted: WantedEvents): Pick<ScanQuery, 'where' | 'match' | 'from' | 'to'> => {
  const { workspaceId, emitterId, channel, invocationId, text, since, until } = wanted;
  const end = (ms: number, sequence: string): string => `${String(ms).padStart(15, '0')}-${sequence}`;
  const equals = {
    ...(emitterId === undefined && channel !== undefined ? { channel } : {}),
    ...(invocationId === undefined ? {} : { invocation: invocationId }),
  };
  return {
    where: emitterId === undefined ? { workspaceId } : emitterWhere(emitterId, channel),
    ...(since === undefined ? {} : { from: end(since, '0'.repeat(10)) }),
    ...(until === undefined ? {} : { to: end(until, MOST_SEQUENCE) }),
    match: {
      equals,
      ...(emitterId === undefined && channel === undefined ? { none: { channel: [...PLATFORM_CHANNELS] } } : {}),
      ...(text === undefined ? {} : { contains: { part: text, fields: COMPARED } }),
    },
  };
};

const emitterWhere = (emitterId: string, channel: string | undefined): ScanQuery['where'] =>
  channel === undefined ? { family: familyOf(emitterId, '') } : { list: listOf(emitterId, channel) };
