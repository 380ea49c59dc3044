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

/** What a request had for a body. */
export type Body =
  | { readonly bytes: Buffer }
  /** Size as declared, or as far as it was read; `declared` tells which. */
  | { readonly tooLarge: number; readonly declared: boolean }
  | { readonly refused: DomainError }
  | { readonly unknownEncoding: string }
  | { readonly tooManyCodings: number }
  | { readonly notPacked: Error }
  | 'client left';

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

/**
 * Like `readBody`, and undoes what the header Content-Encoding names, once the whole body has arrived. Both sizes are
 * limited: the unpacked one as `maxBytes`, and the packed one to what can be within that.
 * @param onUnknown what becomes of a body with a coding that is not known: refused, or read as it is.
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
  // It was counted until now, so it fits. It counts on while it waits for its turn.
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
    // 'aborted' comes while the answer can still be left out; 'close' after it.
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
    const { req } = this;
    req.off('data', this.onData).off('end', this.onEnd).off('error', this.onLeft).off('aborted', this.onLeft);
    // A connection that breaks later concerns nobody.
    req.on('error', ignore);
    if (!req.complete || req.readableLength > 0) req.resume();
    this.limits.bodies.release(this.limits.holders, this.held);
    this.held = 0;
    this.buffer = NONE;
    this.resolve(body);
  }
}
