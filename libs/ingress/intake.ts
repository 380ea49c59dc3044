import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type ByteHolders, type HttpBytes } from '#libs/http/bytes-in-flight.js';
import { type TrustedProxies } from '#libs/http/client-address.js';
import { MAX_CODINGS } from '#libs/http/content-coding.js';
import { type Body, readUnpackedBody, UNCOUNTED_BYTES } from '#libs/http/read-body.js';
import { type Clock } from '#libs/kernel/clock.js';
import { bytesAbove, EVENT_BYTES } from '#libs/stream-log/record-limits.js';
import { type Refusal } from '#libs/stream-log/refusal.js';
import { type Admission, type Arrival } from './admission.js';
import { type EndpointRequest } from './endpoint-event.js';
import { type RateLimit } from './rate-limit.js';
import { RefusedRequest } from './refused-request.js';

/** The source or workflow that a request is for. */
export type Receiver = Pick<Arrival, 'sourceId' | 'workspaceId'>;

export interface IntakeDependencies {
  /** Decides which events are admitted now. */
  readonly admission: Admission;
  readonly rate: RateLimit;
  readonly maxBodyBytes: number;
  /** Bytes of bodies and replies in flight. They count for the workspace of the endpoint. */
  readonly bytes: HttpBytes;
  /** Proxies whose headers about the client are trusted. */
  readonly proxies: Pick<TrustedProxies, 'clientOf'>;
  readonly clock: Clock;
  readonly metrics: { accepted(workspaceId: string): void; refused(status: number): void };
  /** Called for each event that was refused because of missing room or quota. Must not throw. */
  readonly onRefused?: (receiver: Receiver, refusal: Refusal) => void;
}

/** Answers a preflight request. Any page may call an address, because its path is what opens it. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, PUT, PATCH, POST, DELETE',
  // The wildcard does not cover this one (Fetch, 4.10).
  'access-control-allow-headers': '*, authorization',
};
export const CORS_ORIGIN = { 'access-control-allow-origin': '*' };

/** Reads requests to endpoints and to URLs of runs as events, within the limits that both have. */
export class Intake {
  constructor(private readonly deps: IntakeDependencies) {}

  /**
   * Calls `accept` with the event of a request, or answers the request with a refusal.
   * @param rateKey counts the requests that share a rate
   * @param eventOf throws RefusedRequest
   */
  async receive<E extends { readonly text: string }>(
    { rateKey, ...receiver }: Receiver & { readonly rateKey: string },
    eventOf: (body: Buffer) => Promise<E>,
    accept: (event: E, stay: Stay) => Promise<void>,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { deps } = this;
    // 1. Refuse a request above the rate, and read its body.
    const tooFast = deps.rate.consume(rateKey, deps.clock.now());
    if (tooFast) return this.refuse(res, 429, 'rate_limited', tooFast.text, tooFast.headers);
    const holders = { workspace: receiver.workspaceId };
    const limits = { maxBytes: deps.maxBodyBytes, bodies: deps.bytes.bodies, holders };
    const body = await readUnpackedBody(req, limits, 'keep');
    if (body === 'client left') return;
    if (!('bytes' in body)) return this.refuseBody(res, body, req.headers['content-encoding']);

    // 2. Refuse or delay it while there is no room for it in the pipeline.
    const arrival = { ...receiver, bytes: body.bytes.length };
    const entered = deps.admission.enter(arrival);
    const refusal = entered === true ? undefined : await this.heldAtDoor(entered, holders, arrival.bytes);
    if (refusal) {
      deps.onRefused?.(receiver, refusal);
      const { status, code, text, retryAfterS } = refusal;
      return this.refuse(res, status, code, text, { 'retry-after': String(retryAfterS) });
    }
    const stay = new Stay(deps.admission, arrival);
    try {
      // 3. Make the event.
      const event = await this.checked(() => eventOf(body.bytes), res);
      if (event) await accept(event, stay);
    } finally {
      stay.end();
    }
  }

  /** The request as an event has it, with its place below the address. */
  requestOf(
    req: IncomingMessage,
    { path, query }: Pick<EndpointRequest, 'path' | 'query'>,
    body: Buffer,
  ): EndpointRequest {
    const client = this.deps.proxies.clientOf(req);
    return {
      method: req.method ?? 'GET',
      path,
      query,
      headers: plainHeaders(req),
      body,
      clientIp: client.address,
      url: `${client.scheme}://${client.host}${req.url ?? ''}`,
    };
  }

  refuse(
    res: ServerResponse,
    status: number,
    code: string,
    error: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    this.deps.metrics.refused(status);
    const body = JSON.stringify({ error, code });
    const length = String(Buffer.byteLength(body));
    res.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...CORS_ORIGIN, ...headers });
    res.end(body);
  }

  refuseBody(res: ServerResponse, body: Exclude<Body, 'client left'>, coding = ''): void {
    if ('tooLarge' in body) {
      const size = `${body.declared ? '' : 'at least '}${body.tooLarge} bytes${coding === '' || body.declared ? '' : ', unpacked,'}`;
      const text = `body of ${size} is above the limit of ${this.deps.maxBodyBytes} bytes`;
      return this.refuse(res, 413, 'too_large', text, { connection: 'close' });
    }
    if ('notPacked' in body) {
      const text = `the body is not valid ${coding}, which the header Content-Encoding names (${body.notPacked.message}): compress it so, or leave the header out`;
      return this.refuse(res, 400, 'invalid_parameter', text);
    }
    if ('tooManyCodings' in body) {
      const text = `the body is packed ${body.tooManyCodings} times, the limit is ${MAX_CODINGS}: compress it once`;
      return this.refuse(res, 400, 'invalid_parameter', text, { connection: 'close' });
    }
    if ('refused' in body)
      this.refuse(res, 429, 'too_much_in_flight', body.refused.message, { 'retry-after': '1', connection: 'close' });
  }

  /** Returns undefined once it has answered a request that the client must change. */
  private async checked<E extends { readonly text: string }>(
    make: () => Promise<E>,
    res: ServerResponse,
  ): Promise<E | undefined> {
    let event: E;
    try {
      event = await make();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      this.refuse(res, 400, error.code, error.message);
      return undefined;
    }
    const size = bytesAbove(event.text, EVENT_BYTES);
    if (size === undefined) return event;
    const text = `the event is ${size} bytes of JSON with its body parsed and raw, the limit is ${EVENT_BYTES}`;
    this.refuse(res, 413, 'too_large', text);
    return undefined;
  }

  /** A body that waits at the door still counts. It was counted until now, so it fits or is one of few. */
  private async heldAtDoor(
    entered: Promise<Refusal | undefined>,
    holders: ByteHolders,
    bytes: number,
  ): Promise<Refusal | undefined> {
    if (bytes <= UNCOUNTED_BYTES) return entered;
    const { bodies } = this.deps.bytes;
    bodies.hold(holders, bytes);
    try {
      return await entered;
    } finally {
      bodies.release(holders, bytes);
    }
  }
}

/** The time from admission until the event is stored or abandoned. */
export class Stay {
  private over = false;

  constructor(
    private readonly admission: Admission,
    private readonly arrival: Arrival,
  ) {}

  /** Idempotent. */
  end(): void {
    if (this.over) return;
    this.over = true;
    this.admission.left(this.arrival);
  }
}

const plainHeaders = (req: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const name in req.headers) {
    const value = req.headers[name];
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
};
