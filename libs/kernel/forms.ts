import { type ProcessRegistry, type ProcessReport } from './process-registry.js';

/**
 * Forms of stored or sent data that some release cannot read, or would misread. Every process of this release reads all
 * of them and says so (`ProcessReport.reads`). A form is written only while every living process reads it
 * (docs/adr/0044). Never give a name a second meaning.
 *
 * - `lane_commit.2`: the committed offset of a lane names its topic's id and incarnation beside the holder
 *   (engines/kafka). Earlier releases take the whole text for a holder that has died, and take the lane at once.
 * - `event_data.2`: the data of a large event in EventStoreDB is a blob, and its metadata names it (engines/eventstoredb).
 *   Earlier releases see an event without data.
 * - `stream_lanes.1`: not a form of data, but of ownership. Processes other than the one with a stream read model's lease
 *   write lanes of it (docs/adr/0048). A projector of an earlier release takes itself for the only writer.
 * - `http_event.2`: the event of a request holds its JSON body once, and a header of the invocation says where
 *   (component-model/http-event.ts). Runners of earlier releases run it with an empty `bodyRaw`.
 * - `attempts.2`: a record on the topic `attempts` holds several attempts of a webhook (stream-log/attempt-records.ts).
 *   Earlier releases pass over such a record, so its attempts are in no list.
 */
export const FORMS = ['lane_commit.2', 'event_data.2', 'stream_lanes.1', 'http_event.2', 'attempts.2'] as const;
export type Form = (typeof FORMS)[number];

/** What a writer asks before it uses a form. */
export interface Forms {
  /** False while it is not known what every living process reads. Ask at each write, because the answer changes. */
  mayWrite(form: Form): boolean;
  /** The listener hears each time that a form may no longer be written: a process that cannot read it lives. */
  onWithdrawn(listener: () => void): void;
}

/** For a process that knows nothing of the others. */
export const EARLIER_FORMS: Forms = { mayWrite: () => false, onWithdrawn: () => undefined };

/** For a command, which is not in the registry and soon ends: it looks once at the processes that live. */
export class FormsOnceSeen implements Forms {
  private readByAll: readonly Form[] = [];

  async look(registry: Pick<ProcessRegistry, 'live'>): Promise<void> {
    const live = await registry.live();
    this.readByAll = FORMS.filter((form) => areRead(form, live));
  }

  mayWrite(form: Form): boolean {
    return this.readByAll.includes(form);
  }

  onWithdrawn(): void {
    // It does not look again.
  }
}

/** For the one process of an installation. */
export const ALL_FORMS: Forms = { mayWrite: () => true, onWithdrawn: () => undefined };

/** A process that restarts, or is silent for a while, is back within this time. */
export const SETTLED_MS = 10_000;
/** What was seen longer ago than this tells nothing about the processes that live now. */
export const SEEN_MS = 5_000;

/** Since when all living processes have read each form, as one process has seen it. Times are monotonic, in ms. */
export interface Agreement {
  readonly seenAt: number;
  readonly since: ReadonlyMap<string, number>;
}

export const NO_AGREEMENT: Agreement = { seenAt: -Infinity, since: new Map() };

/** A process of a release from before announcements announces nothing, and so ends every agreement. */
export const agreementAfter = (
  before: Agreement,
  live: readonly Pick<ProcessReport, 'id' | 'reads'>[],
  self: string,
  now: number,
): Agreement => {
  // Who does not see itself does not see all others.
  if (!live.some(({ id }) => id === self)) return { seenAt: now, since: new Map() };
  const known = mayRely(before, now) ? before.since : new Map<string, number>();
  const readByAll = FORMS.filter((form) => areRead(form, live));
  return { seenAt: now, since: new Map(readByAll.map((form) => [form, known.get(form) ?? now])) };
};

export const isAgreed = (agreement: Agreement, form: Form, now: number): boolean =>
  mayRely(agreement, now) && now - (agreement.since.get(form) ?? Infinity) >= SETTLED_MS;

const areRead = (form: Form, live: readonly Pick<ProcessReport, 'reads'>[]): boolean =>
  live.every(({ reads }) => reads?.includes(form) === true);

const mayRely = ({ seenAt }: Agreement, now: number): boolean => now - seenAt <= SEEN_MS;
