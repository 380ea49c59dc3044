import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Duplex } from 'node:stream';
import { type Socket } from 'node:net';
import { shareOfHeap } from '#libs/kernel/heap-share.js';
import { Connection, type ConnectionLimits } from './connection.js';

/** See docs/reference/limits.md#connections. */
export interface ListenerLimits extends ConnectionLimits {
  /**
   * Unsent bytes of all connections above which connections that read nothing are cut, and above twice that the
   * slowest.
   */
  readonly unsentInAll: number;
  /** Time after which a connection that reads none of its unsent bytes is cut. */
  readonly stalledMs: number;
  /** Time for the body of a request. Node's own limit does not cover a connection that had to wait. */
  readonly bodyMs: number;
  /** Interval of the checks of all connections. */
  readonly lookMs: number;
}

export const listenerLimits = (): ListenerLimits => ({
  unanswered: 16,
  unsentBytes: 1 << 20,
  unsentInAll: shareOfHeap(),
  stalledMs: 60_000,
  bodyMs: 90_000,
  lookMs: 1_000,
});

/** Time in which all connections are read in parts after one wrote too far ahead. */
const GUARDED_MS = 60_000;

const HARD_TIMES = 2;

/** Reasons for which connections were cut. */
export type Cut = 'stalled' | 'memory';

/** Bounds the memory of the process for clients that write ahead or do not read their answers. */
export class Connections {
  /** Connections that were cut since the start. */
  readonly cuts: Record<Cut, number> = { stalled: 0, memory: 0 };
  private readonly bySocket = new Map<Duplex, Connection>();
  private readonly timer: NodeJS.Timeout;
  private guardedUntil = 0;
  private held = 0;

  constructor(
    private readonly server: Server,
    private readonly limits: ListenerLimits,
    serve: (req: IncomingMessage, res: ServerResponse) => void,
  ) {
    const { bySocket } = this;
    // One function for all answers, which looks up the connection.
    const onClose = function (this: ServerResponse): void {
      bySocket.get(this.req.socket)?.answered(this);
    };
    server.on('connection', (socket: Socket) => this.opened(socket, serve));
    const arrived = (req: IncomingMessage, res: ServerResponse): void => {
      res.on('close', onClose);
      const connection = bySocket.get(req.socket);
      if (connection?.arrived(req, res)) this.wroteAhead(connection);
    };
    // A request with an unknown expectation arrives by a separate event.
    server.on('request', arrived).on('checkExpectation', arrived);
    server.on('connect', (_req: IncomingMessage, socket: Duplex) => bySocket.get(socket)?.becameTunnel());
    this.timer = setInterval(() => this.look(), limits.lookMs).unref();
  }

  /** Unsent bytes of all connections at the last check. */
  get heldBytes(): number {
    return this.held;
  }

  /** Whether the server made the client wait, so that a time limit on its request does not apply. */
  isHeldBack(socket: Duplex): boolean {
    return this.bySocket.get(socket)?.isHeldBack ?? false;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private opened(socket: Socket, serve: (req: IncomingMessage, res: ServerResponse) => void): void {
    const now = performance.now();
    const connection = new Connection(socket, this.limits, serve, now);
    this.bySocket.set(socket, connection);
    if (now < this.guardedUntil) connection.readInParts();
    socket.once('close', () => {
      this.bySocket.delete(socket);
      // Later, so that Node first closes the answers that it closes itself.
      setImmediate(() => connection.closed());
    });
  }

  private wroteAhead(connection: Connection): void {
    const now = performance.now();
    // The first one indicates an attack, so all other connections are parsed in parts from this turn on.
    if (now >= this.guardedUntil) for (const each of this.bySocket.values()) each.readInParts();
    this.guardedUntil = now + GUARDED_MS;
    connection.hold();
  }

  private look(): void {
    const now = performance.now();
    this.held = 0;
    for (const connection of this.bySocket.values()) {
      connection.look(now);
      if (now - connection.progressAt > this.limits.stalledMs) this.cut(connection, 'stalled');
      else {
        this.held += connection.heldBytes;
        if (connection.isLate(now, this.limits.bodyMs)) this.server.emit('clientError', late(), connection.socket);
      }
    }
    if (this.held > this.limits.unsentInAll) this.cutSlowest();
  }

  /** A new connection seems to read only because the kernel's buffers were empty, so the next check decides. */
  private cutSlowest(): void {
    const { unsentInAll } = this.limits;
    const holding = [...this.bySocket.values()].map((connection) => ({ connection, bytes: connection.heldBytes }));
    holding.sort((a, b) => a.connection.movedBytes - b.connection.movedBytes || b.bytes - a.bytes);
    for (const { connection, bytes } of holding) {
      if (this.held <= unsentInAll || (connection.movedBytes > 0 && this.held <= HARD_TIMES * unsentInAll)) return;
      if (bytes === 0) continue;
      this.cut(connection, 'memory');
      this.held -= bytes;
    }
  }

  private cut(connection: Connection, why: Cut): void {
    this.cuts[why]++;
    connection.socket.destroy();
  }
}

const late = (): Error => Object.assign(new Error('the body is late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
