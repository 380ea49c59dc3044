import { ResponseError, type Connection } from '@platformatic/kafka';
import { type Api, type Apis, type OfTopic } from './protocol.js';

export interface Request<A extends Api> {
  /** Number and version in the protocol. */
  readonly key: number;
  readonly version: number;
  readonly send: (connection: Connection, args: Apis[A]['args']) => Promise<Apis[A]['reply']>;
}

interface LibraryApi {
  readonly key: number;
  readonly version: number;
  readonly async: (connection: Connection, ...args: never[]) => Promise<unknown>;
}
type SentTo<L extends LibraryApi> = L['async'] extends (connection: Connection, ...args: infer Sent) => unknown
  ? Sent
  : never;
type ReceivedFrom<L extends LibraryApi> = Awaited<ReturnType<L['async']>>;

/** Wraps a request of the client library in the types of this engine. */
export const request =
  <L extends LibraryApi>(api: L) =>
  <A extends Api>(
    sent: (args: Apis[A]['args']) => SentTo<L>,
    reply: (received: ReceivedFrom<L>) => Apis[A]['reply'],
  ): Request<A> => ({
    key: api.key,
    version: api.version,
    send: async (connection, args) => {
      const parameters: readonly unknown[] = sent(args);
      try {
        return reply((await api.async(connection, ...(parameters as never[]))) as ReceivedFrom<L>);
      } catch (error) {
        // The library rejects when any part of a reply failed. Our callers check each part.
        if (error instanceof ResponseError) return reply(error.response as ReceivedFrom<L>);
        throw error;
      }
    },
  });

export type Requests<Names extends Api> = { readonly [A in Names]: Request<A> };

/** Converts topics with their partitions between our terms and the library's. */
export const named = <P, Q>(
  topics: readonly OfTopic<P>[],
  partitionOf: (partition: P) => Q,
): { name: string; partitions: Q[] }[] =>
  topics.map(({ topic, partitions }) => ({ name: topic, partitions: partitions.map(partitionOf) }));
export const unnamed = <P, Q>(
  topics: readonly { readonly name: string; readonly partitions: readonly P[] }[],
  partitionOf: (partition: P) => Q,
): OfTopic<Q>[] => topics.map(({ name, partitions }) => ({ topic: name, partitions: partitions.map(partitionOf) }));

/** The protocol's id for consumers, which are no replicas. */
export const NO_REPLICA = -1;
/** The broker does not compare the leader epoch that we know. */
export const ANY_EPOCH = -1;
