import { type handleBidiStreamingCall, type handleClientStreamingCall } from '@grpc/grpc-js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import { RevisionConflict } from '#libs/kernel/event-store.js';
import { type Log, type ProposedEvent } from './log.js';
import {
  appendedMessage,
  batchAppendedMessage,
  batchConflictMessage,
  batchFailureMessage,
  batchTooLargeMessage,
  conflictMessage,
  expectedOf,
  streamIdentifier,
  streamNameOf,
  tooLarge,
} from './messages.js';

type Proposed = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage;

/** One append per call: first the options, then one event per message. */
export const appendCall =
  (log: Log, maxAppendSize: number): handleClientStreamingCall<AppendReq, AppendResp> =>
  (call, answer) => {
    let options: AppendReq.Options | undefined;
    const events: ProposedEvent[] = [];
    call.on('data', (request: AppendReq) => {
      options ??= request.getOptions();
      const proposed = request.getProposedMessage();
      if (proposed) events.push(proposedEvent(proposed));
    });
    const append = async (): Promise<AppendResp> => {
      const stream = streamNameOf(options?.getStreamIdentifier());
      const expected = expectedOf(
        options?.hasNoStream() ?? false,
        options?.hasRevision() ? options.getRevision() : undefined,
      );
      try {
        refuseLarge(events, maxAppendSize);
        const { revision, place } = await log.append(stream, events, expected);
        return appendedMessage(revision, place);
      } catch (error) {
        if (error instanceof RevisionConflict) return conflictMessage(error);
        throw error;
      }
    };
    call.on('end', () => {
      append().then(
        (response) => answer(null, response),
        (error: Error) => answer(error),
      );
    });
  };

interface OpenBatch {
  readonly options: BatchAppendReq.Options | undefined;
  readonly events: ProposedEvent[];
}

/** Any number of appends over one call. A correlation id tells them apart, and each is answered once it is durable. */
export const batchAppendCall =
  (log: Log, maxAppendSize: number): handleBidiStreamingCall<BatchAppendReq, BatchAppendResp> =>
  (call) => {
    const open = new Map<string, OpenBatch>();
    const append = async ({ options, events }: OpenBatch): Promise<BatchAppendResp> => {
      const stream = streamNameOf(options?.getStreamIdentifier());
      try {
        const revision = options?.hasStreamPosition() ? options.getStreamPosition() : undefined;
        const expected = expectedOf(options?.hasNoStream() ?? false, revision);
        if (sizeOf(events) > maxAppendSize) return batchTooLargeMessage(maxAppendSize);
        const appended = await log.append(stream, events, expected);
        return batchAppendedMessage(appended.revision, appended.place);
      } catch (error) {
        if (error instanceof RevisionConflict) return batchConflictMessage(error);
        return batchFailureMessage(error instanceof Error ? error : new Error(String(error)));
      }
    };
    call.on('data', (request: BatchAppendReq) => {
      const id = request.getCorrelationId();
      const key = id?.getString() ?? '';
      const batch = open.get(key) ?? { options: request.getOptions(), events: [] };
      batch.events.push(...request.getProposedMessagesList().map(proposedEvent));
      if (!request.getIsFinal()) {
        open.set(key, batch);
        return;
      }
      open.delete(key);
      const stream = streamIdentifier(streamNameOf(batch.options?.getStreamIdentifier()));
      void append(batch).then((response) => call.write(response.setCorrelationId(id).setStreamIdentifier(stream)));
    });
    call.on('end', () => call.end());
  };

/** As the server counts: type in UTF-16, data and metadata. */
const sizeOf = (events: readonly ProposedEvent[]): number =>
  events.reduce((sum, { type, data, metadata }) => sum + 2 * type.length + data.length + metadata.length, 0);

const refuseLarge = (events: readonly ProposedEvent[], maxAppendSize: number): void => {
  if (sizeOf(events) > maxAppendSize) throw tooLarge(maxAppendSize);
};

const proposedEvent = (message: Proposed): ProposedEvent => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});
