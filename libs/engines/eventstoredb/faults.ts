import { ErrorType, isCommandError } from '@eventstore/db-client';
import { EngineUnavailable, type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { fieldOf } from '../faults.js';
import { MissingData } from './large-data.js';
import { UnreadableEvent } from './recorded-event.js';

/** Errors about the request itself, which the adapter handles. */
const OF_REQUEST: ReadonlySet<ErrorType> = new Set([
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
]);

/** Refusals by the server or the way to it, and events that it has lost. */
export const eventStoreFault: FaultOf = (error) => {
  const isLost = error instanceof MissingData || error instanceof UnreadableEvent;
  const isCommand = error instanceof Error && isCommandError(error);
  const isRefused = isCommand ? !OF_REQUEST.has(error.type) : isOfConnection(error);
  return isLost || isRefused ? new EngineUnavailable('EventStoreDB', messageOf(error), { cause: error }) : undefined;
};

/** An error of the gRPC client has a numeric status with metadata. */
const isOfConnection = (error: unknown): boolean =>
  typeof fieldOf(error, 'code') === 'number' && fieldOf(error, 'metadata') !== undefined;
