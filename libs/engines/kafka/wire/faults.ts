import { GenericError, MultipleErrors } from '@platformatic/kafka';
import { EngineUnavailable, type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { KafkaError } from './broker-connection.js';
import { RefusedConnection } from './refused-connection.js';

/** Every code that a broker answers, and every failure of a connection. */
export const kafkaFault: FaultOf = (error) =>
  error instanceof KafkaError ||
  error instanceof RefusedConnection ||
  error instanceof GenericError ||
  error instanceof MultipleErrors
    ? new EngineUnavailable('Kafka', error.message, { cause: error })
    : undefined;
