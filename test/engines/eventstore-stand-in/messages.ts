import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ExpectedRevision, type RevisionConflict } from '#libs/kernel/event-store.js';
import { type LoggedEvent } from './log.js';

/** The protocol's answers, built from the log. */

export const eventMessage = (event: LoggedEvent): InstanceType<typeof streams.ReadResp> => {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent();
  const place = event.place.toString();
  recorded
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(streamIdentifier(event.stream))
    .setStreamRevision(event.revision.toString())
    .setCommitPosition(place)
    .setPreparePosition(place)
    .setCustomMetadata(event.metadata)
    .setData(event.data);
  // .NET ticks, of 100 ns.
  const properties = { type: event.type, 'content-type': event.contentType, created: `${event.createdAt}0000` };
  for (const [name, value] of Object.entries(properties)) recorded.getMetadataMap().set(name, value);
  return new streams.ReadResp().setEvent(new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(place));
};

export const confirmationMessage = (id: string): InstanceType<typeof streams.ReadResp> =>
  new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(id));

export const checkpointMessage = (place: bigint): InstanceType<typeof streams.ReadResp> => {
  const text = place.toString();
  const checkpoint = new streams.ReadResp.Checkpoint().setCommitPosition(text).setPreparePosition(text);
  return new streams.ReadResp().setCheckpoint(checkpoint);
};

export const caughtUpMessage = (): InstanceType<typeof streams.ReadResp> =>
  new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());

export const notFoundMessage = (stream: string): InstanceType<typeof streams.ReadResp> =>
  new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(stream)),
  );

export const appendedMessage = (revision: bigint, place: bigint): InstanceType<typeof streams.AppendResp> => {
  const text = place.toString();
  const position = new streams.AppendResp.Position().setCommitPosition(text).setPreparePosition(text);
  const success = new streams.AppendResp.Success().setCurrentRevision(revision.toString()).setPosition(position);
  return new streams.AppendResp().setSuccess(success);
};

export const conflictMessage = ({ actual, expected }: RevisionConflict): InstanceType<typeof streams.AppendResp> => {
  const conflict = new streams.AppendResp.WrongExpectedVersion();
  if (actual === 'no_stream') conflict.setCurrentNoStream(new shared.Empty());
  else conflict.setCurrentRevision(actual.toString());
  if (expected === 'no_stream') conflict.setExpectedNoStream(new shared.Empty());
  else conflict.setExpectedRevision(expected.toString());
  return new streams.AppendResp().setWrongExpectedVersion(conflict);
};

type BatchAnswer = InstanceType<typeof streams.BatchAppendResp>;

export const batchAppendedMessage = (revision: bigint, place: bigint): BatchAnswer => {
  const text = place.toString();
  const position = new shared.AllStreamPosition().setCommitPosition(text).setPreparePosition(text);
  const success = new streams.BatchAppendResp.Success().setCurrentRevision(revision.toString()).setPosition(position);
  return new streams.BatchAppendResp().setSuccess(success);
};

export const batchConflictMessage = ({ actual, expected }: RevisionConflict): BatchAnswer => {
  const details = new shared.WrongExpectedVersion();
  if (actual === 'no_stream') details.setCurrentNoStream(new emptyPb.Empty());
  else details.setCurrentStreamRevision(actual.toString());
  if (expected === 'no_stream') details.setExpectedNoStream(new emptyPb.Empty());
  else details.setExpectedStreamPosition(expected.toString());
  return batchError(9, 'WrongExpectedVersion', details.serializeBinary(), 'event_store.client.WrongExpectedVersion');
};

export const batchFailureMessage = (error: Error): BatchAnswer =>
  batchError(2, error.message, new shared.Unknown().serializeBinary(), 'event_store.client.Unknown');

export const batchTooLargeMessage = (limit: number): BatchAnswer => {
  const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(limit);
  const type = 'event_store.client.MaximumAppendSizeExceeded';
  return batchError(3, `Maximum Append Size of ${limit} Exceeded.`, details.serializeBinary(), type);
};

const batchError = (code: number, message: string, details: Uint8Array, type: string): BatchAnswer => {
  const any = new anyPb.Any();
  any.pack(details, type);
  return new streams.BatchAppendResp().setError(
    new statusPb.Status().setCode(code).setMessage(message).setDetails(any),
  );
};

export const streamIdentifier = (stream: string): InstanceType<typeof shared.StreamIdentifier> =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream, 'utf8').toString('base64'));

export const streamNameOf = (identifier: InstanceType<typeof shared.StreamIdentifier> | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');

/** The log has no answer for an append under "any" or "stream exists". */
export const expectedOf = (noStream: boolean, revision: string | undefined): ExpectedRevision => {
  if (noStream) return 'no_stream';
  if (revision === undefined) throw unimplemented('an append under "any" or "stream exists"');
  return BigInt(revision);
};

/** The refusal of an append above `--max-append-size`. */
export const tooLarge = (limit: number): Partial<ServiceError> & Error => {
  const metadata = new Metadata();
  metadata.set('exception', 'maximum-append-size-exceeded');
  metadata.set('maximum-append-size', String(limit));
  const message = `Maximum Append Size of ${limit} Exceeded.`;
  return Object.assign(new Error(message), { code: status.INVALID_ARGUMENT, metadata });
};

export const unimplemented = (what: string): Partial<ServiceError> & Error =>
  Object.assign(new Error(`the stand-in does not have ${what}`), {
    code: status.UNIMPLEMENTED,
    metadata: new Metadata(),
  });
