import { type IncomingMessage } from 'node:http';
import { type DomainError } from '#libs/kernel/domain-error.js';
import { type ByteHolders, type BytesInFlight } from './bytes-in-flight.js';
import { codingsOf, MAX_CODINGS, mostPacked, unpacked } from './content-coding.js';

export interface BodyLimits {
  /** Largest body, unpacked. */
  readonly maxBytes: number;
  readonly bodies: BytesInFlight;
  readonly holders: ByteHolders;
}

/** Body of a request. */
export type Body =
  | { readonly bytes: Buffer }
  /** Size as declared, or as far as it was read; `declared` tells which. */
  | { readonly tooLarge: number; readonly declared: boolean }
  | { readonly refused: DomainError }
  | { readonly unknownEncoding: string }
  | { readonly tooManyCodings: number }
  | { readonly notPacked: Error }
  | 'client left';

/** Smaller bodies do not count, so that they arrive whatever other clients send. */
export const UNCOUNTED_BYTES = 16 * 1024;
const NONE = Buffer.alloc(0);
const ignore = (): void => undefined;

/**
 * Reads the whole body unchanged. Bytes count from their arrival until this resolves, and a declared length reserves
 * nothing. Bytes after a refusal are read and dropped.
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

/**
 * Like `readBody`, and undoes the codings in the header Content-Encoding once the whole body has arrived. Both sizes
 * are limited: the unpacked one by `maxBytes`, and the packed one by what can unpack to that.
 * @param onUnknown treatment of a body with an unknown coding: refused, or read unchanged.
 */
export const readUnpackedBody = async (
  req: IncomingMessage,
  limits: BodyLimits,
  onUnknown: 'refuse' | 'keep',
): Promise<Body> => {
  const header = req.headers['content-encoding'];
  if (header === undefined) return readBody(req, limits);
  const codings = codingsOf(header);
  if (codings === undefined)
    return onUnknown === 'keep' ? readBody(req, limits) : dropped(req, { unknownEncoding: header });
  if (codings.length > MAX_CODINGS) return dropped(req, { tooManyCodings: codings.length });
  if (codings.length === 0) return readBody(req, limits);
  const packed = await readBody(req, { ...limits, maxBytes: mostPacked(limits.maxBytes) });
  if (packed === 'client left' || !('bytes' in packed) || packed.bytes.length === 0) return packed;
  const { bodies, holders, maxBytes } = limits;
  const counted = packed.bytes.length > UNCOUNTED_BYTES ? packed.bytes.length : 0;
  // The body was counted until now, so it fits, and it still counts while it waits for its turn.
  bodies.hold(holders, counted);
  try {
    const bytes = await unpacked(packed.bytes, codings, maxBytes, holders.workspace ?? holders.user ?? '');
    return bytes ? { bytes } : { tooLarge: maxBytes + 1, declared: false };
  } catch (error) {
    return { notPacked: error as Error };
  } finally {
    bodies.release(holders, counted);
  }
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

  constructor(
    private readonly req: IncomingMessage,
    private readonly limits: BodyLimits,
    private readonly declared: number,
  ) {
    this.body = new Promise((resolve) => (this.resolve = resolve));
    // 'aborted' arrives while the answer can still be omitted, and 'close' after it.
    req.on('data', this.onData).on('end', this.onEnd).on('error', this.onLeft).on('aborted', this.onLeft);
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

  private readonly onLeft = (): void => this.end('client left');

  /** Doubles the buffer, up to the size that can still arrive. */
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

  /** @param bytes current size of the body. */
  private hold(bytes: number): DomainError | undefined {
    if (bytes <= UNCOUNTED_BYTES) return undefined;
    const refused = this.limits.bodies.tryHold(this.limits.holders, bytes - this.held);
    if (!refused) this.held = bytes;
    return refused;
  }

  private end(body: Body): void {
    const { req } = this;
    req.off('data', this.onData).off('end', this.onEnd).off('error', this.onLeft).off('aborted', this.onLeft);
    // A connection that breaks later has no consequence.
    req.on('error', ignore);
    if (!req.complete || req.readableLength > 0) req.resume();
    this.limits.bodies.release(this.limits.holders, this.held);
    this.held = 0;
    this.buffer = NONE;
    this.resolve(body);
  }
}
