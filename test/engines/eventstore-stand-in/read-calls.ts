import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { type handleServerStreamingCall, type ServerWritableStream } from '@grpc/grpc-js';
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { passes, windowOf } from './filter.js';
import { type Log, type LoggedEvent } from './log.js';
import {
  caughtUpMessage,
  checkpointMessage,
  confirmationMessage,
  eventMessage,
  notFoundMessage,
  streamNameOf,
  unimplemented,
} from './messages.js';

type Call = ServerWritableStream<ReadReq, ReadResp>;

const PAGE = 500;

/** Figures of reads and subscriptions for tests. */
export class ReadFigures {
  readonly live = new Set<AbortController>();
  /** Start of each subscription, the first one first. */
  readonly startedAt: bigint[] = [];
  /** Calls that wait for their client to take sent data. */
  waiting = 0;
  eventsSent = 0;

  get subscriptions(): number {
    return this.live.size;
  }
}

/** Reads and subscriptions, which are one call of the protocol. */
export const readCall =
  (log: Log, figures: ReadFigures): handleServerStreamingCall<ReadReq, ReadResp> =>
  (call) => {
    const live = new AbortController();
    call.on('cancelled', () => live.abort());
    answerRead(log, figures, new Answer(call, live, figures)).then(
      () => call.end(),
      (error: Error) => {
        if (!live.signal.aborted) call.emit('error', error);
      },
    );
  };

/** The stream to the client, as fast as the client takes it. */
class Answer {
  readonly signal: AbortSignal;

  constructor(
    readonly call: Call,
    readonly live: AbortController,
    private readonly figures: ReadFigures,
  ) {
    this.signal = live.signal;
  }

  /** Resolves when the client has room for more, or the call is over. */
  async send(message: ReadResp): Promise<void> {
    if (this.signal.aborted) return;
    if (message.hasEvent()) this.figures.eventsSent += 1;
    if (this.call.write(message)) return;
    this.figures.waiting += 1;
    try {
      await once(this.call, 'drain', { signal: this.signal });
    } catch (error) {
      if (!this.signal.aborted) throw error;
    } finally {
      this.figures.waiting -= 1;
    }
  }
}

const answerRead = async (log: Log, figures: ReadFigures, answer: Answer): Promise<void> => {
  const request = answer.call.request.getOptions();
  if (!request) throw unimplemented('a read without options');
  if (!request.hasSubscription()) {
    return request.hasAll() ? readAll(log, answer, request) : readStream(log, answer, request);
  }
  if (!request.hasAll()) throw unimplemented('a subscription to one stream');
  const { live } = figures;
  live.add(answer.live);
  try {
    await answerSubscription(log, figures, answer, request);
  } finally {
    live.delete(answer.live);
  }
};

const isForwards = (request: ReadReq.Options): boolean =>
  request.getReadDirection() === streams.ReadReq.Options.ReadDirection.FORWARDS;

const readStream = async (log: Log, answer: Answer, request: ReadReq.Options): Promise<void> => {
  const place = request.getStream();
  const stream = streamNameOf(place?.getStreamIdentifier());
  const direction = isForwards(request) ? 'forwards' : 'backwards';
  const from = place?.hasRevision() ? BigInt(place.getRevision()) : undefined;
  if (!(await log.exists(stream))) return answer.send(notFoundMessage(stream));
  for await (const event of log.readStream(stream, direction, from, Number(request.getCount()))) {
    await answer.send(eventMessage(event));
    if (answer.signal.aborted) return;
  }
};

const readAll = async (log: Log, answer: Answer, request: ReadReq.Options): Promise<void> => {
  const forwards = isForwards(request);
  const all = request.getAll();
  const given = all?.hasPosition() ? BigInt(all.getPosition()?.getCommitPosition() ?? 0) : undefined;
  let from = given ?? (all?.hasStart() ? 0n : undefined);
  if (forwards && from === undefined) return;
  for (let left = Number(request.getCount()); left > 0 && !answer.signal.aborted;) {
    const limit = Math.min(left, PAGE);
    const page = forwards ? await log.pageForwards(from ?? 0n, limit) : await log.pageBackwards(from, limit);
    for (const event of page) await answer.send(eventMessage(event));
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    left -= page.length;
    from = forwards ? last.place + 1n : last.place;
  }
};

const answerSubscription = async (
  log: Log,
  figures: ReadFigures,
  answer: Answer,
  request: ReadReq.Options,
): Promise<void> => {
  const { signal } = answer;
  const all = request.getAll();
  const position = BigInt(all?.getPosition()?.getCommitPosition() ?? 0);
  figures.startedAt.push(position);
  const filter = request.getFilter();
  const window = windowOf(filter);
  let skipped = 0;
  let caughtUp = false;
  const handOver = async (event: LoggedEvent): Promise<void> => {
    if (passes(filter, event)) {
      await answer.send(eventMessage(event));
      skipped = 0;
    } else if (++skipped >= window) {
      await answer.send(checkpointMessage(event.place));
      skipped = 0;
    }
  };
  await answer.send(confirmationMessage(randomUUID()));
  for await (const batch of log.follow(all?.hasEnd() ? 'end' : position, signal)) {
    for (const event of batch.events) {
      if (signal.aborted) return;
      await handOver(event);
    }
    if (batch.caughtUp && !caughtUp) await answer.send(caughtUpMessage());
    caughtUp ||= batch.caughtUp;
  }
};
