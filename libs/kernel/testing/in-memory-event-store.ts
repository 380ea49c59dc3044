import {
  RevisionConflict,
  type AppendResult,
  type EventBatch,
  type EventStore,
  type ExpectedRevision,
  type ReadOptions,
} from '../event-store.js';
import { positionOf, START, type NewEvent, type Position, type RecordedEvent } from '../events.js';
import { systemClock, type Clock } from '../clock.js';

const BATCH = 500;

/** Complete in-memory EventStore for specs of handlers and projectors. Keeps the port's contract. */
export class InMemoryEventStore implements EventStore {
  private readonly log: RecordedEvent[] = [];
  private readonly streams = new Map<string, RecordedEvent[]>();
  private waiting: (() => void)[] = [];
  private beforeAppend: ((stream: string) => Promise<void>) | undefined;

  constructor(private readonly clock: Clock = systemClock) {}

  /** Runs `act` once, right before the next append decides. A spec simulates a rival writer or a crash with it. */
  onNextAppend(act: (stream: string) => Promise<void>): void {
    this.beforeAppend = act;
  }

  async append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    if (events.length === 0) throw new Error(`append to ${stream} without events`);
    const act = this.beforeAppend;
    this.beforeAppend = undefined;
    await act?.(stream);

    const past = this.streams.get(stream) ?? [];
    const actual: ExpectedRevision = past.length === 0 ? 'no_stream' : BigInt(past.length - 1);
    if (expected !== actual) {
      const first = expected === 'no_stream' ? 0 : Number(expected) + 1;
      const repeat = past.slice(first, first + events.length);
      const last = repeat.at(-1);
      if (last && repeat.length === events.length && repeat.every((event, i) => event.id === events[i]?.id)) {
        return { revision: last.revision, position: last.position };
      }
      throw new RevisionConflict(stream, expected, actual);
    }
    const added = events.map((event, i): RecordedEvent => {
      const copy = structuredClone(event);
      const place = { revision: BigInt(past.length + i), position: positionOf(this.log.length + i + 1) };
      return { ...copy, ...place, stream, recordedAt: copy.metadata.$recordedAt ?? this.clock.now() };
    });
    this.log.push(...added);
    this.streams.set(stream, [...past, ...added]);
    this.wake();
    const last = added[added.length - 1] as RecordedEvent;
    return { revision: last.revision, position: last.position };
  }

  async *read(stream: string, { direction = 'forwards', from, limit }: ReadOptions = {}): AsyncIterable<RecordedEvent> {
    const past = this.streams.get(stream) ?? [];
    const chosen =
      direction === 'forwards'
        ? past.filter(({ revision }) => from === undefined || revision >= from)
        : past.filter(({ revision }) => from === undefined || revision <= from).reverse();
    yield* structuredClone(chosen.slice(0, limit));
  }

  async readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const first = Number(after);
    return structuredClone(this.log.slice(first, first + limit));
  }

  async lastPosition(): Promise<Position> {
    return this.log.at(-1)?.position ?? START;
  }

  async *subscribe(after: Position, signal: AbortSignal): AsyncIterable<EventBatch> {
    const onAbort = (): void => this.wake();
    signal.addEventListener('abort', onAbort);
    try {
      let position = after;
      let toldCaughtUp = false;
      let reachedEnd = false;
      const end = await this.lastPosition();
      while (!signal.aborted) {
        const events = await this.readAll(position, BATCH);
        position = events.at(-1)?.position ?? position;
        const caughtUp: boolean = position >= (await this.lastPosition()) || (!reachedEnd && position >= end);
        reachedEnd ||= caughtUp;
        if (events.length > 0 || !toldCaughtUp) yield { events, caughtUp, position };
        toldCaughtUp = caughtUp;
        if (caughtUp && position >= (await this.lastPosition()) && !signal.aborted) {
          await new Promise<void>((resolve) => {
            // Checked in the same tick as the registration, so that no append comes in between.
            if (this.log.length > Number(position)) resolve();
            else this.waiting.push(resolve);
          });
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  private wake(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resume of waiting) resume();
  }
}
