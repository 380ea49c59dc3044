import { messageOf } from '#libs/kernel/error-message.js';
import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { apiVersionsV3, Connection, protocolErrorsCodesById } from '@platformatic/kafka';
import { type Api, type Apis } from './protocol.js';
import { closedUnanswered, connectionError, RefusedConnection } from './refused-connection.js';
import { REQUESTS } from './requests.js';
import { secured, type KafkaSecurity } from './security.js';

const CONNECT_MS = 2_000;
const REQUEST_MS = 15_000;
/** Most requests in flight on one connection. The broker answers them one after the other. */
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

/** A broker cannot be reached, or does not answer. What fails because of it has this error among its causes. */
export class BrokerAway extends EngineUnavailable {
  override readonly name = 'BrokerAway';

  constructor(
    /** host:port */
    readonly broker: string,
    cause: unknown,
  ) {
    const reason = messageOf(cause);
    super('Kafka', reason.includes(broker) ? reason : `${broker}: ${reason}`, { cause });
  }
}

/** Finds the unreachable broker that caused a failure; undefined for any other failure. */
export const brokerAwayIn = (error: unknown): BrokerAway | undefined => {
  const met = new Set<unknown>();
  for (let each = error; each instanceof Error && !met.has(each); each = each.cause) {
    if (each instanceof BrokerAway) return each;
    met.add(each);
  }
  return undefined;
};

/** An open connection, with the calls that wait for answers on it. */
interface Session {
  readonly connection: Connection;
  readonly calls: Set<Promise<unknown>>;
  answered: boolean;
  /** Cause of the break, if the socket reported one. */
  readonly broken: Error | undefined;
  /** Time at which the broker will soon require authentication again (process uptime). */
  readonly endsAt: number;
}

/**
 * One connection to one broker, opened on demand and reopened after it broke, or before its session ends. A broker
 * answers the requests of a connection one after the other, so requests that may wait (fetch, join) have a separate
 * connection.
 */
export class BrokerConnection {
  private opened: Promise<Session> | undefined;
  private closed = false;

  constructor(
    readonly host: string,
    readonly port: number,
    private readonly clientId: string,
    private readonly security: KafkaSecurity = {},
    /** Whether a broker has answered this process, so that the settings of connections are right. */
    private readonly trust: { hasAnswered: boolean } = { hasAnswered: false },
  ) {}

  /**
   * Returns the decoded reply, whatever its error codes. Rejects with BrokerAway when the broker is unreachable or does
   * not answer, and with RefusedConnection when it refuses this process.
   */
  async call<A extends Api>(api: A, args: Apis[A]['args']): Promise<Apis[A]['reply']> {
    try {
      return await this.send(api, args);
    } catch (error) {
      if (error instanceof RefusedConnection || this.closed) throw error;
      throw new BrokerAway(`${this.host}:${this.port}`, error);
    }
  }

  private async send<A extends Api>(api: A, args: Apis[A]['args']): Promise<Apis[A]['reply']> {
    if (this.closed) throw new EngineUnavailable('Kafka', `the connection to ${this.host}:${this.port} is closed`);
    const opening = (this.opened = this.usable());
    let session: Session | undefined;
    try {
      session = await opening;
      const reply = await counted(session, REQUESTS[api].send(session.connection, args));
      session.answered = true;
      this.trust.hasAnswered = true;
      return reply;
    } catch (error) {
      // Otherwise this process dropped the connection, which is the reason.
      if (this.opened !== opening) throw error;
      this.drop();
      throw session && !session.answered ? this.unanswered(error, session) : error;
    }
  }

  /** Breaks the connection, so waiting calls reject. The next call connects again. */
  drop(): void {
    const { opened } = this;
    this.opened = undefined;
    opened?.then(
      ({ connection }) => connection.socket.destroy(),
      () => undefined,
    );
  }

  close(): void {
    this.closed = true;
    this.drop();
  }

  /** The current connection, or a new one when it broke or its session ends. */
  private usable(): Promise<Session> {
    return this.opened?.then((session) => this.lasting(session)) ?? this.open();
  }

  private async lasting(session: Session): Promise<Session> {
    const { connection, calls, endsAt } = session;
    if (!connection.isConnected()) return this.open();
    if (performance.now() < endsAt) return session;
    // Requests are answered in the order in which they were sent, like on one connection.
    await Promise.allSettled(calls);
    connection.socket.destroy();
    return this.open();
  }

  private async open(): Promise<Session> {
    const { host, port, clientId, security } = this;
    let endsAt = Infinity;
    let broken: Error | undefined;
    const connection = new Connection(clientId, {
      connectTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      maxInflights: IN_FLIGHT,
      ...secured(security, host, (ms) => (endsAt = performance.now() + ms)),
    });
    // Calls in flight reject on their own.
    connection.on('error', (error) => (broken = error));
    try {
      await connection.connect(host, port);
    } catch (error) {
      // Undefined when the connection failed earlier.
      (connection.socket as Connection['socket'] | undefined)?.destroy();
      throw connectionError(error, `${host}:${port}`, security);
    }
    const session: Session = {
      connection,
      calls: new Set(),
      answered: false,
      endsAt,
      get broken() {
        return broken;
      },
    };
    try {
      await checkVersions(connection, `${host}:${port}`);
    } catch (error) {
      connection.socket.destroy();
      throw this.unanswered(error, session);
    }
    return session;
  }

  /** Error for a connection that ended without an answer. */
  private unanswered(error: unknown, { connection, broken }: Session): unknown {
    if (connection.isConnected()) return error;
    const why = closedUnanswered(broken ?? error, `${this.host}:${this.port}`, this.security, this.trust.hasAnswered);
    return why ?? error;
  }
}

const counted = async <T>({ calls }: Session, call: Promise<T>): Promise<T> => {
  calls.add(call);
  try {
    return await call;
  } finally {
    calls.delete(call);
  }
};

/** Rejects when the broker is too old for one of our requests, so that the first call reports it. */
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
