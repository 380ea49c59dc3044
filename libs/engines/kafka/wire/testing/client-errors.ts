import { NetworkError, TimeoutError } from '@platformatic/kafka';

/** What the client throws when a connection fails. */
export const CLIENT_ERRORS: readonly (readonly [name: string, error: Error])[] = [
  ['Kafka: connection lost', new NetworkError('Connection closed')],
  ['Kafka: request timed out', new TimeoutError('Request timed out')],
];
