import { NetworkError, TimeoutError } from '@platformatic/kafka';

/** Errors of the client for failed connections. */
export const CLIENT_ERRORS: readonly (readonly [name: string, error: Error])[] = [
  ['Kafka: connection lost', new NetworkError('Connection closed')],
  ['Kafka: request timed out', new TimeoutError('Request timed out')],
];
