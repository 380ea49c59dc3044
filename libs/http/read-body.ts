import { type IncomingMessage } from 'node:http';
import { type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type DomainError } from '../kernel/domain-error.js';
import { type ByteHolders, type BytesInFlight } from './bytes-in-flight.js';

export interface BodyLimits {
  /** Largest body, unpacked. */
  readonly maxBytes: number;
  readonly bodies: BytesInFlight;
  readonly holders: ByteHolders;
}

/** What a request had for a body. */
export type Body =
  | { readonly bytes: Buffer }
  /** Size as declared, or as far as it was read; `declared` tells which. */
  | { readonly tooLarge: number; readonly declared: boolean }
  | { readonly refused: DomainError }
  | { readonly unknownEncoding: string }
  | { readonly notPacked: Error }
  | 'client left';

interface Unpacking {
  readonly unpacker: () => Transform;
  /** What it needs besides the unpacked bytes. */
  readonly bytes: number;
}

const UNPACKING: ReadonlyMap<string, Unpacking> = new Map([
  ['gzip', { unpacker: () => createGunzip(), bytes: 64 * 1024 }],
  ['deflate', { unpacker: () => createInflate(), bytes: 64 * 1024 }],
  ['br', { unpacker: () => createBrotliDecompress(), bytes: 1024 * 1024 }],
]);

/** Smaller bodies do not count, so that those of others arrive whatever somebody else sends. */
export const UNCOUNTED_BYTES = 16 * 1024;
const NONE = Buffer.alloc(0);
const ignore = (): void => undefined;

/**
 * Reads the whole body, as it is. Bytes count as they arrive, and until this resolves: a length that is declared reserves
 * nothing. What comes after a refusal is read and dropped.
 */
export const readBody = (req: IncomingMessage, limits: BodyLimits): Promise<Body> => {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > limits.maxBytes) return dropped(req, { tooLarge: declared, declared: true });
  if (declared > UNCOUNTED_BYTES) {
    const refused = limits.bodies.refusalOf(limits.holders, declared);
    if (refused) return dropped(req, { refused });
  }
  return new Reading(req, limits, declared).body;
};

/** Like `readBody`, and unpacks what the header Content-Encoding names. Unpacked bytes count. */
export const readUnpackedBody = (req: IncomingMessage, limits: BodyLimits): Promise<Body> => {
  const encoding = (req.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return readBody(req, limits);
  const unpacking = UNPACKING.get(encoding);
  if (!unpacking) return dropped(req, { unknownEncoding: encoding });
  const { bodies, holders } = limits;
  const refused = bodies.tryHold(holders, unpacking.bytes);
  if (refused) return dropped(req, { refused });
  return new Reading(req, limits, 0, unpacking.unpacker()).body.finally(() => bodies.release(holders, unpacking.bytes));
};

const dropped = (req: IncomingMessage, body: Body): Promise<Body> => {
  req.resume();
  return Promise.resolve(body);
};

/** A body in one buffer that grows, because a client may send millions of pieces of a byte each. */
class Reading {
  readonly body: Promise<Body>;
  private buffer: Buffer = NONE;
  private size = 0;
  private held = 0;
  private resolve!: (body: Body) => void;
  private readonly source: IncomingMessage | Transform;

  constructor(
    private readonly req: IncomingMessage,
    private readonly limits: BodyLimits,
    private readonly declared: number,
    private readonly unpacker?: Transform,
  ) {
    this.source = unpacker ?? req;
    this.body = new Promise((resolve) => (this.resolve = resolve));
    this.source.on('data', this.onData).on('end', this.onEnd).on('error', this.onError);
    // 'aborted' comes while the answer can still be left out; 'close' after it.
    req.on('aborted', this.onAborted);
    if (!unpacker) return;
    req.on('error', this.onAborted);
    req.pipe(unpacker);
  }

  private readonly onData = (chunk: Buffer): void => {
    const { maxBytes } = this.limits;
    const size = this.size + chunk.length;
    if (size > maxBytes) return this.end({ tooLarge: size, declared: false });
    if (this.size === 0) {
      const refused = this.hold(chunk.length);
      if (refused) return this.end({ refused });
      this.buffer = chunk;
    } else {
      if (size > this.buffer.length) {
        const refused = this.grow(size);
        if (refused) return this.end({ refused });
      }
      chunk.copy(this.buffer, this.size);
    }
    this.size = size;
  };

  private readonly onEnd = (): void =>
    this.end({ bytes: this.size === this.buffer.length ? this.buffer : this.buffer.subarray(0, this.size) });

  private readonly onError = (error: Error): void => this.end(this.unpacker ? { notPacked: error } : 'client left');

  private readonly onAborted = (): void => this.end('client left');

  /** Doubles the buffer, up to what can still come. */
  private grow(least: number): DomainError | undefined {
    const most = this.declared > 0 ? this.declared : this.limits.maxBytes;
    const bytes = Math.max(least, Math.min(2 * least, most));
    const refused = this.hold(bytes);
    if (refused) return refused;
    const grown = Buffer.allocUnsafeSlow(bytes);
    this.buffer.copy(grown, 0, 0, this.size);
    this.buffer = grown;
    return undefined;
  }

  /** @param bytes all that the body takes now. */
  private hold(bytes: number): DomainError | undefined {
    if (bytes <= UNCOUNTED_BYTES) return undefined;
    const refused = this.limits.bodies.tryHold(this.limits.holders, bytes - this.held);
    if (!refused) this.held = bytes;
    return refused;
  }

  private end(body: Body): void {
    const { req, source, unpacker } = this;
    source.off('data', this.onData).off('end', this.onEnd).off('error', this.onError);
    req.off('aborted', this.onAborted);
    if (unpacker) {
      req.off('error', this.onAborted).unpipe(unpacker);
      unpacker.on('error', ignore).destroy();
    }
    // A connection that breaks later concerns nobody.
    req.on('error', ignore);
    if (!req.complete || req.readableLength > 0) req.resume();
    this.limits.bodies.release(this.limits.holders, this.held);
    this.held = 0;
    this.buffer = NONE;
    this.resolve(body);
  }
}
