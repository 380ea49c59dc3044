import Connection from 'kafkajs/src/network/connection.js';
import socketFactory from 'kafkajs/src/network/socketFactory.js';
import errors from 'kafkajs/src/protocol/error.js';
import apiKeys from 'kafkajs/src/protocol/requests/apiKeys.js';
import protocol, { type ApiVersions, type ProtocolCall } from 'kafkajs/src/protocol/requests/index.js';
import { type Api, type Apis } from './protocol.js';

const CONNECT_MS = 2_000;
const REQUEST_MS = 15_000;
/** Newest version of ApiVersions that every broker answers. */
const API_VERSIONS_VERSION = 0;

const silent = {
  namespace: () => silent,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** An error code that a broker answered. */
export class KafkaError extends Error {
  constructor(
    what: string,
    readonly code: number,
    detail?: string | null,
  ) {
    const { type, message } = errors.createErrorFromCode(code);
    super(`${what}: ${detail ?? message} (${type})`);
  }
}

export const failIf = (what: string, code: number, detail?: string | null): void => {
  if (code !== 0) throw new KafkaError(what, code, detail);
};

/**
 * One connection to one broker, opened on demand and reopened after it broke. A broker answers the requests of a
 * connection one after the other, so requests that may wait (fetch, join) have a connection of their own.
 */
export class BrokerConnection {
  private opened: Promise<Open> | undefined;
  private closed = false;

  constructor(
    readonly host: string,
    readonly port: number,
    private readonly clientId: string,
  ) {}

  /** Returns the decoded reply, whatever its error codes. Rejects when the broker is unreachable or does not answer. */
  async call<A extends Api>(api: A, args: Apis[A]['args']): Promise<Apis[A]['reply']> {
    if (this.closed) throw new Error(`the connection to ${this.host}:${this.port} is closed`);
    const opening = (this.opened = this.usable());
    try {
      const { connection, lookup } = await opening;
      const call = lookup(apiKeys[api] ?? -1, definitionOf(api))(args);
      // kafkajs would throw for the first failed partition of a reply and drop the results of the others.
      const response = {
        decode: (raw: unknown) => call.response.decode(raw),
        parse: (decoded: unknown) => Promise.resolve(decoded),
      };
      return (await connection.send({ ...call, response, logResponseError: false })) as Apis[A]['reply'];
    } catch (error) {
      if (this.opened === opening) this.drop();
      throw error;
    }
  }

  /** Breaks the connection, so waiting calls reject. The next call connects again. */
  drop(): void {
    const { opened } = this;
    this.opened = undefined;
    opened?.then(
      ({ connection }) => end(connection),
      () => undefined,
    );
  }

  close(): void {
    this.closed = true;
    this.drop();
  }

  /** The current connection, or a new one when it broke. */
  private usable(): Promise<Open> {
    return this.opened?.then((open) => (open.connection.isConnected() ? open : this.open())) ?? this.open();
  }

  private async open(): Promise<Open> {
    const { host, port, clientId } = this;
    const connection = new Connection({
      host,
      port,
      clientId,
      logger: silent,
      socketFactory: socketFactory(),
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
    });
    try {
      await connection.connect();
      const versions = await versionsOf(connection);
      return { connection, lookup: protocol.lookup(versions) };
    } catch (error) {
      end(connection);
      throw error;
    }
  }
}

interface Open {
  readonly connection: Connection;
  readonly lookup: ReturnType<typeof protocol.lookup>;
}

const definitionOf = (api: string) => {
  const definition = protocol.requests[api];
  if (!definition) throw new Error(`kafkajs knows no request ${api}`);
  return definition;
};

const end = (connection: Connection): void => {
  connection.rejectRequests(new Error('the connection was closed'));
  void connection.disconnect();
  connection.socket?.destroy();
};

const versionsOf = async (connection: Connection): Promise<ApiVersions> => {
  const call: ProtocolCall = definitionOf('ApiVersions').protocol({ version: API_VERSIONS_VERSION })({});
  const reply = (await connection.send(call)) as {
    readonly apiVersions: readonly { apiKey: number; minVersion: number; maxVersion: number }[];
  };
  return Object.fromEntries(reply.apiVersions.map((each) => [each.apiKey, each]));
};
