import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
} from '@eventstore/db-client';
import { WakeablePause } from '#libs/async/pause.js';
import { type Position } from '#libs/kernel/events.js';
import { release } from './connection.js';
import { logPositionOf, textOf } from './positions.js';
import { type StreamNames } from './stream-names.js';

/** Most events of a batch. Memory holds about twice as many: one batch read ahead and one in flight. */
const BATCH = 500;

export interface LiveBatch {
  readonly events: readonly AllStreamResolvedEvent[];
  /** True when the log had no further events as the last one arrived. */
  readonly caughtUp: boolean;
  /** All own events up to here have been returned. */
  readonly passed: Position;
}

export interface LiveReadOptions {
  readonly after: Position;
  /** Newest event of the log, whichever program wrote it, read on the same connection before this read. */
  readonly end: Position;
  readonly names: StreamNames;
  readonly signal: AbortSignal;
}

/**
 * One catch-up subscription of the client, read by pulling. While a batch waits here, the client does not read from its
 * connection and the server does not send.
 */
export class LiveRead {
  private readonly subscription: AllStreamSubscription;
  private failure: Error | undefined;
  private readonly arrival = new WakeablePause();
  private readonly wake = (): void => this.arrival.wake();
  private caughtUp = false;
  /** Number of events read so far. */
  private read = 0;
  /** The server's reports, with the number of events sent before each. A report may arrive in the middle of a batch. */
  private saidCaughtUp: { sent: number } | undefined;
  private checkpoint: { sent: number; position: Position } | undefined;
  private passed: Position;
  private readonly signal: AbortSignal;
  private readonly end: Position;

  constructor(client: EventStoreDBClient, { after, end, names, signal }: LiveReadOptions) {
    this.passed = after;
    this.end = end;
    this.signal = signal;
    const filter = names.filter((_, position) => {
      this.checkpoint = { sent: this.sent(), position: textOf(position) };
      this.wake();
    });
    this.subscription = client.subscribeToAll({ fromPosition: logPositionOf(after), filter }, { highWaterMark: BATCH });
    this.listen();
  }

  /** Resolves with the events that arrived, once there are any; undefined when aborted. Rejects when the read fails. */
  async next(): Promise<LiveBatch | undefined> {
    for (;;) {
      if (this.signal.aborted) return undefined;
      const before = { caughtUp: this.caughtUp, passed: this.passed };
      const events = this.readWaiting();
      this.applyReports();
      if (events.length > 0 || this.caughtUp !== before.caughtUp || this.passed !== before.passed) {
        return { events, caughtUp: this.caughtUp && this.subscription.readableLength === 0, passed: this.passed };
      }
      if (this.failure) throw this.failure;
      await this.arrival.wait();
      // History arrives quickly, event by event. Events of the same turn go into the same batch.
      if (!this.caughtUp) await nextTurn();
    }
  }

  close(): void {
    this.signal.removeEventListener('abort', this.wake);
    release(this.subscription, () => this.subscription.unsubscribe());
  }

  private listen(): void {
    const { subscription } = this;
    subscription.on('readable', this.wake);
    subscription.on('caughtUp', () => {
      this.saidCaughtUp = { sent: this.sent() };
      this.wake();
    });
    subscription.on('fellBehind', () => {
      this.saidCaughtUp = undefined;
      this.caughtUp = false;
    });
    subscription.on('error', (error) => this.fail(error));
    subscription.on('end', () => this.fail(new Error('the server ended the subscription')));
    this.signal.addEventListener('abort', this.wake);
  }

  private sent(): number {
    return this.read + this.subscription.readableLength;
  }

  private readWaiting(): AllStreamResolvedEvent[] {
    const events: AllStreamResolvedEvent[] = [];
    while (events.length < BATCH) {
      const resolved = this.subscription.read() as AllStreamResolvedEvent | null;
      if (!resolved) break;
      this.read++;
      events.push(resolved);
    }
    const last = events.at(-1)?.event;
    if (last) this.passed = textOf(last.position);
    return events;
  }

  private applyReports(): void {
    if (this.checkpoint && this.checkpoint.sent <= this.read) {
      if (this.checkpoint.position > this.passed) this.passed = this.checkpoint.position;
      this.checkpoint = undefined;
    }
    if (this.saidCaughtUp && this.saidCaughtUp.sent <= this.read) {
      this.caughtUp = true;
      this.saidCaughtUp = undefined;
      if (this.end > this.passed) this.passed = this.end;
    }
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }
}
