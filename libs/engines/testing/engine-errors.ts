import { AccessDeniedError, TimeoutError, UnavailableError, UnknownError, NotLeaderError } from '@eventstore/db-client';
import {
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  type TopologyDescription,
} from 'mongodb';
import { DeadlineExceeded } from '#libs/async/deadline.js';
import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { embeddedFault } from '../embedded/faults.js';
import { eventStoreFault } from '../eventstoredb/index.js';
import { faultOf } from '../faults.js';
import { kafkaFault } from '../kafka/index.js';
import { KafkaError } from '../kafka/wire/broker-connection.js';
import { RefusedConnection } from '../kafka/wire/refused-connection.js';
import { CLIENT_ERRORS } from '../kafka/wire/testing/client-errors.js';
import { mongoFault } from '../mongodb/index.js';

/** Recognises the state of every engine. */
export const faultOfAny = faultOf(kafkaFault, mongoFault, eventStoreFault, embeddedFault);

type ServiceError = NonNullable<ConstructorParameters<typeof NotLeaderError>[0]>;
const metadata = {
  get: () => ['value'],
  getMap: () => ({ 'leader-endpoint-host': 'b', 'leader-endpoint-port': '2113' }),
};
const grpc = (code: number): ServiceError =>
  Object.assign(new Error(`${code} UNAVAILABLE: no connection`), {
    code,
    details: 'no connection',
    metadata,
  }) as unknown as ServiceError;
const system = (code: string): Error =>
  Object.assign(new Error(`${code}: write`), { code, syscall: 'write', errno: -1 });
const sqlite = (errcode: number, text: string): Error =>
  Object.assign(new Error(text), { code: 'ERR_SQLITE_ERROR', errcode });
const server = (code: number, errmsg: string): Error => new MongoServerError({ ok: 0, code, errmsg, message: errmsg });

/** Errors of the engines' clients when an engine is unreachable, moves, is full or closed, or refuses this process. */
export const ENGINE_ERRORS: readonly (readonly [name: string, error: Error])[] = [
  ['Kafka: unknown topic', new KafkaError('the offsets of group tail', 3)],
  ['Kafka: no leader', new KafkaError('lane', 5)],
  ['Kafka: not leader', new KafkaError('lane', 6)],
  ['Kafka: timed out', new KafkaError('lane', 7)],
  ['Kafka: coordinator away', new KafkaError('group', 15)],
  ['Kafka: not authorised', new KafkaError('topic', 29)],
  ['Kafka: disk full', new KafkaError('lane', 56)],
  ...CLIENT_ERRORS,
  ['Kafka: refused', new RefusedConnection('a:9092 refuses the user')],
  ['Kafka: within another error', new Error('outer', { cause: new KafkaError('lane', 6) })],
  ['MongoDB: connection lost', new MongoNetworkError('connection 1 closed')],
  ['MongoDB: no server', new MongoServerSelectionError('timed out', {} as TopologyDescription)],
  ['MongoDB: timed out', new MongoOperationTimeoutError('timed out')],
  ['MongoDB: not primary', server(10_107, 'not primary')],
  ['MongoDB: not authorised', server(13, 'not authorized on sluice')],
  ['MongoDB: authentication', server(18, 'Authentication failed.')],
  ['MongoDB: closed', new MongoTopologyClosedError('Topology is closed')],
  ['MongoDB: not connected', new MongoNotConnectedError('Client must be connected')],
  ['EventStoreDB: away', new UnavailableError(grpc(14))],
  ['EventStoreDB: timed out', new TimeoutError(grpc(13))],
  ['EventStoreDB: not leader', new NotLeaderError(grpc(5))],
  ['EventStoreDB: not authorised', new AccessDeniedError(grpc(7))],
  ['EventStoreDB: unknown', new UnknownError(grpc(2))],
  ['EventStoreDB: raw error', grpc(14)],
  ['EventStoreDB: no answer', new DeadlineExceeded('append to source-1', 10)],
  ['SQLite: I/O', sqlite(10, 'disk I/O error')],
  ['SQLite: extended I/O', sqlite(266, 'disk I/O error')],
  ['SQLite: locked', sqlite(5, 'database is locked')],
  ['SQLite: damaged', sqlite(11, 'database disk image is malformed')],
  ['SQLite: closed', Object.assign(new Error('database is not open'), { code: 'ERR_INVALID_STATE' })],
  ['disk: I/O', system('EIO')],
  ['disk: too many files', system('EMFILE')],
  ['adapter', new EngineUnavailable('Kafka', 'no broker answers')],
];

/** Errors after which nothing was stored, because there was no room. */
export const FULL_ERRORS: readonly (readonly [name: string, error: Error])[] = [
  ['MongoDB: disk full', server(14_031, 'OutOfDiskSpace')],
  ['SQLite: disk full', sqlite(13, 'database or disk is full')],
  ['disk: full', system('ENOSPC')],
  ['disk: quota', system('EDQUOT')],
];
