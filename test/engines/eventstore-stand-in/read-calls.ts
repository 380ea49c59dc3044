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

export interface ReadOptions {
  /** Whether subscriptions say when history is read, as servers from 23.10 do. */
  readonly saysCaughtUp: boolean;
  /** Told of each subscription, until its end. */
  readonly onSubscription: (live: AbortController) => void;
}

/** Reads and subscriptions: one call of the protocol for all of them. */
export const readCall =
  (log: Log, options: ReadOptions): handleServerStreamingCall<ReadReq, ReadResp> =>
  (call) => {
    const live = new AbortController();
    call.on('cancelled', () => live.abort());
    answerRead(log, options, call, live).then(
      () => call.end(),
      (error: Error) => {
        if (!live.signal.aborted) call.emit('error', error);
      },
    );
  };

const answerRead = async (log: Log, options: ReadOptions, call: Call, live: AbortController): Promise<void> => {
  const request = call.request.getOptions();
  if (!request) throw unimplemented('a read without options');
  const { signal } = live;
  if (request.hasSubscription()) {
    if (!request.hasAll()) throw unimplemented('a subscription to one stream');
    options.onSubscription(live);
    return answerSubscription(log, call, request, signal, options.saysCaughtUp);
  }
  return request.hasAll() ? readAll(log, call, request, signal) : readStream(log, call, request, signal);
};

const isForwards = (request: ReadReq.Options): boolean =>
  request.getReadDirection() === streams.ReadReq.Options.ReadDirection.FORWARDS;

const readStream = async (log: Log, call: Call, request: ReadReq.Options, signal: AbortSignal): Promise<void> => {
  const place = request.getStream();
  const stream = streamNameOf(place?.getStreamIdentifier());
  const direction = isForwards(request) ? 'forwards' : 'backwards';
  const from = place?.hasRevision() ? BigInt(place.getRevision()) : undefined;
  if (!(await log.exists(stream))) return send(call, notFoundMessage(stream), signal);
  for await (const event of log.readStream(stream, direction, from, Number(request.getCount()))) {
    await send(call, eventMessage(event), signal);
    if (signal.aborted) return;
  }
};

const readAll = async (log: Log, call: Call, request: ReadReq.Options, signal: AbortSignal): Promise<void> => {
  const forwards = isForwards(request);
  const all = request.getAll();
  const given = all?.hasPosition() ? BigInt(all.getPosition()?.getCommitPosition() ?? 0) : undefined;
  let from = given ?? (all?.hasStart() ? 0n : undefined);
  if (forwards && from === undefined) return;
  for (let left = Number(request.getCount()); left > 0 && !signal.aborted;) {
    const limit = Math.min(left, PAGE);
    const page = forwards ? await log.pageForwards(from ?? 0n, limit) : await log.pageBackwards(from, limit);
    for (const event of page) await send(call, eventMessage(event), signal);
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    left -= page.length;
    from = forwards ? last.place + 1n : last.place;
  }
};

const answerSubscription = async (
  log: Log,
  call: Call,
  request: ReadReq.Options,
  signal: AbortSignal,
  saysCaughtUp: boolean,
): Promise<void> => {
  const all = request.getAll();
  const position = BigInt(all?.getPosition()?.getCommitPosition() ?? 0);
  const filter = request.getFilter();
  const window = windowOf(filter);
  let skipped = 0;
  let caughtUp = !saysCaughtUp;
  const handOver = async (event: LoggedEvent): Promise<void> => {
    if (passes(filter, event)) {
      await send(call, eventMessage(event), signal);
      skipped = 0;
    } else if (++skipped >= window) {
      await send(call, checkpointMessage(event.place), signal);
      skipped = 0;
    }
  };
  await send(call, confirmationMessage(randomUUID()), signal);
  for await (const batch of log.follow(all?.hasEnd() ? 'end' : position, signal)) {
    for (const event of batch.events) {
      if (signal.aborted) return;
      await handOver(event);
    }
    if (batch.caughtUp && !caughtUp) await send(call, caughtUpMessage(), signal);
    caughtUp ||= batch.caughtUp;
  }
};

/** Resolves when the client has room for more, or the call is over. */
const send = async (call: Call, message: ReadResp, signal: AbortSignal): Promise<void> => {
  if (signal.aborted || call.write(message)) return;
  try {
    await once(call, 'drain', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
