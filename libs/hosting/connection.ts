import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';

export interface ConnectionLimits {
  /** Most unanswered requests of a connection. At the limit it is not read further. */
  readonly unanswered: number;
  /** Unsent bytes of a connection above which its next request waits. One answer alone may be larger. */
  readonly unsentBytes: number;
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Least bytes that are parsed at once of a connection that is read in parts. A part ends with the headers of a request,
 * so that no request waits half parsed while Node's time limits on it run.
 */
const PART_BYTES = 512;
const END_OF_HEADERS = '\r\n\r\n';

type SocketHandle = { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null | undefined;

/** Bytes that the kernel has accepted, including those of a partial write. They grow only when the client reads. */
const sentBytes = (socket: Socket): number => {
  // Node has no public figure that changes during a write of megabytes.
  const { _handle: handle } = socket as Socket & { readonly _handle?: SocketHandle };
  const { bytesWritten = socket.bytesWritten, writeQueueSize = socket.writableLength } = handle ?? {};
  return bytesWritten - writeQueueSize;
};

/**
 * The unanswered requests of one connection, in order. Pipelined requests are served concurrently up to the limits,
 * each beginning in a separate event-loop turn; later ones wait, and the connection is not read.
 */
export class Connection {
  /** Time of the last check at which the client had read bytes, or had none to read. */
  progressAt: number;
  /** Bytes that the client read between the last two checks. */
  movedBytes = 0;
  private sent = 0;
  private readonly served: ServerResponse[] = [];
  private waiting: Exchange[] = [];
  /** Feeds Node's parser, once the connection is read in parts. */
  private parse: ((part: Buffer) => void) | undefined;
  private isHeld = false;
  /**
   * Node paused the connection itself and will resume it, because a body is read slowly or an answer is not sent yet.
   */
  private isPausedByNode = false;
  private isScheduled = false;
  private isTunnel = false;
  /** The last parsed request, and the time at which its body began or could continue. */
  private last: IncomingMessage | undefined;
  private lastAt: number;

  /** @param serve passes a request to the handler. Must not throw. */
  constructor(
    readonly socket: Socket,
    private readonly limits: ConnectionLimits,
    private readonly serve: (req: IncomingMessage, res: ServerResponse) => void,
    now: number,
  ) {
    this.progressAt = now;
    this.lastAt = now;
  }

  get unanswered(): number {
    return this.served.length + this.waiting.length;
  }

  /** Whether the server, not the client, is why the next request does not arrive. */
  get isHeldBack(): boolean {
    return this.isHeld;
  }

  /** Bytes of unsent answers and of unparsed requests. */
  get heldBytes(): number {
    let bytes = this.socket.readableLength;
    for (const res of this.served) bytes += res.writableLength;
    return bytes;
  }

  /** Adds a parsed request. Returns whether the connection has reached the limit. */
  arrived(req: IncomingMessage, res: ServerResponse): boolean {
    this.last = req;
    this.lastAt = 0;
    if (this.served.length === 0 && this.waiting.length === 0) {
      this.served.push(res);
      this.serve(req, res);
      return false;
    }
    this.waiting.push({ req, res });
    this.schedule();
    return this.isFull;
  }

  /** Called when an answer was sent, or its connection is gone. */
  answered(res: ServerResponse): void {
    const at = this.served.indexOf(res);
    if (at !== -1) this.served.splice(at, 1);
    if (this.waiting.length > 0 || this.isHeld) this.schedule();
  }

  /**
   * Reads the connection in parts from now on, because Node would parse every request of up to 64 KB at once. It costs
   * a few microseconds per read, so it applies only to connections that write ahead, and to the others while any does.
   * Idempotent.
   */
  readInParts(): void {
    if (this.parse || this.isTunnel || this.socket.destroyed) return;
    const [parse] = this.socket.listeners('data') as ((part: Buffer) => void)[];
    if (!parse) return;
    this.parse = parse;
    this.socket.off('data', parse);
    this.socket.on('data', (chunk: Buffer) => this.read(chunk));
  }

  /** Stops reading while the limit of waiting requests is reached. */
  hold(): void {
    this.isPausedByNode ||= this.socket.isPaused() && !this.isHeld;
    this.isHeld = true;
    this.socket.pause();
  }

  /** Node no longer parses this connection. */
  becameTunnel(): void {
    this.isTunnel = true;
  }

  /** Called once, when the socket is closed. Node closes only the first of several waiting answers. */
  closed(): void {
    this.waiting = [];
    for (const res of [...this.served]) {
      res.destroy();
      res.emit('close');
    }
  }

  /** Checks whether the client has read since the last check. */
  look(now: number): void {
    const sent = sentBytes(this.socket);
    this.movedBytes = sent - this.sent;
    this.sent = sent;
    if (this.movedBytes > 0 || this.socket.writableLength === 0) this.progressAt = now;
    // A body does not arrive while the server does not read it.
    if (this.lastAt === 0 || this.isHeld || this.last?.complete !== false) this.lastAt = now;
  }

  /** Whether a body has been arriving for longer than this because of the client. */
  isLate(now: number, bodyMs: number): boolean {
    return now - this.lastAt > bodyMs;
  }

  private get isFull(): boolean {
    return this.unanswered >= this.limits.unanswered;
  }

  private read(chunk: Buffer): void {
    const { socket } = this;
    this.isPausedByNode = false;
    for (let from = 0; from < chunk.length;) {
      // After the last answer of a connection, or a broken request, it is not read any further.
      if (this.isTunnel || socket.destroyed || socket.writableEnded) return;
      if (this.isFull || socket.isPaused()) {
        this.putBack(chunk.subarray(from));
        return;
      }
      const end = endOfPart(chunk, from);
      this.parse?.(from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end));
      from = end;
    }
    if (this.isFull) this.hold();
  }

  private putBack(rest: Buffer): void {
    if (this.isFull) this.hold();
    else this.isPausedByNode = true;
    this.socket.unshift(rest);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.advance());
  }

  private advance(): void {
    this.isScheduled = false;
    if (this.socket.destroyed) return;
    if (this.waiting.length > 0 && this.mayServe()) {
      const { req, res } = this.waiting.shift() as Exchange;
      this.served.push(res);
      this.serve(req, res);
      if (this.waiting.length > 0) this.schedule();
    }
    if (!this.isHeld || this.isFull) return;
    this.isHeld = false;
    if (!this.isPausedByNode) this.socket.resume();
  }

  private mayServe(): boolean {
    if (this.served.length >= this.limits.unanswered) return false;
    let unsent = 0;
    for (const res of this.served) unsent += res.writableLength;
    return unsent < this.limits.unsentBytes;
  }
}

const endOfPart = (chunk: Buffer, from: number): number => {
  if (chunk.length - from <= PART_BYTES) return chunk.length;
  const end = chunk.indexOf(END_OF_HEADERS, from + PART_BYTES - END_OF_HEADERS.length, 'latin1');
  return end === -1 ? chunk.length : end + END_OF_HEADERS.length;
};
