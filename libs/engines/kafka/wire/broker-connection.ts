import { apiVersionsV3, Connection, protocolErrorsCodesById } from '@platformatic/kafka';
import { type Api, type Apis } from './protocol.js';
import { REQUESTS } from './requests.js';

const CONNECT_MS = 2_000;
const REQUEST_MS = 15_000;
/** Requests of one connection that may be on their way. The broker answers them one after the other. */
const IN_FLIGHT = 256;

/** An error code that a broker answered. */
export class KafkaError extends Error {
  constructor(
    what: string,
    readonly code: number,
    detail?: string | null,
  ) {
    const name = protocolErrorsCodesById[code] ?? `code ${code}`;
    super(detail ? `${what}: ${detail} (${name})` : `${what}: ${name}`);
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
  private opened: Promise<Connection> | undefined;
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
      return await REQUESTS[api].send(await opening, args);
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
      ({ socket }) => socket.destroy(),
      () => undefined,
    );
  }

  close(): void {
    this.closed = true;
    this.drop();
  }

  /** The current connection, or a new one when it broke. */
  private usable(): Promise<Connection> {
    return this.opened?.then((open) => (open.isConnected() ? open : this.open())) ?? this.open();
  }

  private async open(): Promise<Connection> {
    const { host, port, clientId } = this;
    const connection = new Connection(clientId, {
      connectTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      maxInflights: IN_FLIGHT,
    });
    // Calls in flight reject by themselves.
    connection.on('error', () => undefined);
    try {
      await connection.connect(host, port);
      await checkVersions(connection, `${host}:${port}`);
      return connection;
    } catch (error) {
      (connection.socket as typeof connection.socket | undefined)?.destroy();
      throw error;
    }
  }
}

/** Rejects when the broker is too old for one of our requests, so that the first call names the reason. */
const checkVersions = async (connection: Connection, broker: string): Promise<void> => {
  const { apiKeys } = await apiVersionsV3.api.async(connection, 'sluice', '1');
  const known = new Map(apiKeys.map((each) => [each.apiKey, each]));
  for (const [name, { key, version }] of Object.entries(REQUESTS)) {
    const range = known.get(key);
    if (range && range.minVersion <= version && version <= range.maxVersion) continue;
    const takes = range ? `takes it in versions ${range.minVersion} to ${range.maxVersion}` : 'does not know it';
    throw new Error(
      `Kafka 3.1 or later is needed: ${name} is sent in version ${version}, and the broker ${broker} ${takes}`,
    );
  }
};
