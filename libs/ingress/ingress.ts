import { type IncomingMessage, type ServerResponse } from 'node:http';
import { answerAtLast } from '#libs/http/last-answer.js';
import { type ByteHolders, type HttpBytes } from '#libs/http/bytes-in-flight.js';
import { type TrustedProxies } from '#libs/http/client-address.js';
import { MAX_CODINGS } from '#libs/http/content-coding.js';
import { type Body, readUnpackedBody, UNCOUNTED_BYTES } from '#libs/http/read-body.js';
import { Faults } from '#libs/kernel/faults.js';
import { type Clock } from '#libs/kernel/clock.js';
import { SANDBOX_POLICY } from '#libs/component-model/endpoint-reply.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { ask, isDropped } from '#libs/stream-log/ask.js';
import { httpInvocation, type Invocation, runIdOf, testEventInvocation } from '#libs/stream-log/invocations.js';
import { bytesAbove, EVENT_BYTES } from '#libs/stream-log/record-limits.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type Refusal } from '#libs/stream-log/refusal.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type Admission, type Arrival } from './admission.js';
import { type EndpointEvent, endpointEvent } from './endpoint-event.js';
import { type RateLimit } from './rate-limit.js';
import { RefusedRequest } from './refused-request.js';
import { type ResponseRelay } from './response-relay.js';
import { sendReply } from './send-reply.js';
import { type Switches, switchesOf } from './switches.js';
import {
  type EndpointTrigger,
  invocationOfTrigger,
  isAuthorized,
  NO_TOKEN,
  replyAtOnce,
  RUN_ID_HEADER,
  withoutToken,
} from './workflow-trigger.js';

export interface EndpointTarget {
  /** The source, or the workflow of the trigger. */
  readonly sourceId: string;
  readonly workspaceId: string;
  readonly prop: string;
  readonly customResponse: boolean;
  /** Set for an HTTP trigger of a workflow. */
  readonly trigger?: EndpointTrigger;
}

export interface IngressDependencies {
  /** Finds an endpoint by its key; undefined when the key is unknown, or its source is inactive or deleted. */
  readonly endpoint: (key: string) => EndpointTarget | undefined;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly relay: ResponseRelay;
  /** Decides which events are admitted now. */
  readonly admission: Admission;
  readonly rate: RateLimit;
  /** Endpoints answer at `<key>.<domain>` too. */
  readonly domain: string | null;
  readonly maxBodyBytes: number;
  /** Bytes of bodies and replies in flight. They count for the workspace of the endpoint. */
  readonly bytes: HttpBytes;
  /** How long a caller waits for `respond`: the run's time limit plus a margin. */
  readonly replyTimeoutMs: number;
  /** Proxies whose headers about the client are trusted. */
  readonly proxies: Pick<TrustedProxies, 'clientOf'>;
  readonly clock: Clock;
  readonly metrics: { accepted(): void; refused(status: number): void };
  /** Called for each event that was refused because of missing room or quota. Must not throw. */
  readonly onRefused?: (target: EndpointTarget, refusal: Refusal) => void;
  readonly logger: { error(fields: object, message: string): void };
}

interface Address {
  readonly key: string;
  /** Path of the endpoint below the origin of the API; null for one at its own domain. */
  readonly base: string | null;
  /** Path below the endpoint. */
  readonly path: string;
  readonly query: string;
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, PUT, PATCH, POST, DELETE',
  // The wildcard does not cover this one (Fetch, 4.10).
  'access-control-allow-headers': '*, authorization',
};

/** Role `ingress`: step 1 of the path of an event (docs/architecture.md). Plain node:http, ahead of the API. */
export class Ingress {
  /** A log that accepts no events fails every request in the same way. */
  private readonly faults: Faults;

  constructor(private readonly deps: IngressDependencies) {
    this.faults = new Faults({ say: (text, fields) => deps.logger.error(fields, text) });
  }

  /** Serves a request to an endpoint. Returns false for any other request, which is for the API. */
  handle(req: IncomingMessage, res: ServerResponse): boolean {
    const address = this.addressOf(req);
    if (!address) return false;
    if (address.base !== null) res.setHeader('content-security-policy', SANDBOX_POLICY);
    this.serve(address, req, res).catch((error: unknown) => {
      const headers = { ...lastHeaders(address), 'retry-after': '1' };
      answerAtLast(res, { status: 503, code: 'unavailable', error: NOT_STORED, headers });
      this.deps.metrics.refused(503);
      const source = this.deps.endpoint(address.key)?.sourceId;
      this.faults.met(String(error), 'ingress.failed', { source, error: String(error) });
    });
    return true;
  }

  private async serve(address: Address, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { deps } = this;
    // 1. Match the address to an endpoint.
    const target = deps.endpoint(address.key);
    if (!target) return this.refuse(res, 404, 'not_found', `no active endpoint ${address.key}`);
    if (req.method === 'OPTIONS') return void res.writeHead(204, CORS).end();
    if (!isAuthorized(target.trigger, req))
      return this.refuse(res, 401, 'unauthorized', NO_TOKEN, { 'www-authenticate': 'Bearer' });

    // 2. Refuse a request above the rate of this endpoint, and read its body.
    const tooFast = deps.rate.consume(address.key, deps.clock.now());
    if (tooFast) return this.refuse(res, 429, 'rate_limited', tooFast.text, tooFast.headers);
    const { sourceId, workspaceId } = target;
    const holders = { workspace: workspaceId };
    const limits = { maxBytes: deps.maxBodyBytes, bodies: deps.bytes.bodies, holders };
    const body = await readUnpackedBody(req, limits, 'keep');
    if (body === 'client left') return;
    if (!('bytes' in body)) return this.refuseBody(res, body, req.headers['content-encoding']);

    // 3. Refuse or delay it while there is no room for it in the pipeline.
    const arrival = { sourceId, workspaceId, bytes: body.bytes.length };
    const entered = deps.admission.enter(arrival);
    const refusal = entered === true ? undefined : await this.heldAtDoor(entered, holders, arrival.bytes);
    if (refusal) {
      deps.onRefused?.(target, refusal);
      const { status, code, text, retryAfterS } = refusal;
      return this.refuse(res, status, code, text, { 'retry-after': String(retryAfterS) });
    }
    const stay = new Stay(deps.admission, arrival);
    try {
      await this.receive(address, target, stay, body.bytes, req, res);
    } finally {
      stay.end();
    }
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

  private async receive(
    address: Address,
    target: EndpointTarget,
    stay: Stay,
    body: Buffer,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { deps } = this;
    const client = deps.proxies.clientOf(req);
    let event: EndpointEvent;
    let switches: Switches;
    try {
      switches = switchesOf(req, address.query);
      const request = {
        method: req.method ?? 'GET',
        path: address.path,
        query: address.query,
        headers: withoutToken(target.trigger, plainHeaders(req)),
        body,
        clientIp: client.address,
        url: `${client.scheme}://${client.host}${req.url ?? ''}`,
      };
      event = await endpointEvent(request, !switches.notrigger);
    } catch (error) {
      if (error instanceof RefusedRequest) return this.refuse(res, 400, error.code, error.message);
      throw error;
    }
    const size = bytesAbove(event.text, EVENT_BYTES);
    if (size !== undefined) {
      const text = `the event is ${size} bytes of JSON with its body parsed and raw, the limit is ${EVENT_BYTES}`;
      return this.refuse(res, 413, 'too_large', text);
    }
    await this.accept(address, target, event, switches, stay, req, res);
  }

  private async accept(
    address: Address,
    target: EndpointTarget,
    { text: event, bodyAt }: EndpointEvent,
    { nostore, notrigger }: Switches,
    stay: Stay,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { deps } = this;
    const { sourceId, workspaceId, prop, customResponse, trigger } = target;
    const isAnswered = customResponse && !notrigger;
    const respond = isAnswered ? deps.relay.address : '';
    const call = { sourceId, workspaceId, now: deps.clock.now(), prop, respond, event };
    const kept = nostore ? ({ nostore: '1' } as const) : {};
    const confined = isAnswered && address.base !== null ? ({ confined: '1' } as const) : {};
    const body = bodyAt === undefined ? {} : { body: bodyAt };
    const invocation = trigger
      ? invocationOfTrigger(deps.topics, trigger, call, { ...body, ...kept, ...confined }, notrigger)
      : notrigger
        ? testEventInvocation(deps.topics, call, kept)
        : httpInvocation(deps.topics, call, { ...body, ...kept, ...confined });
    if (trigger) res.setHeader(RUN_ID_HEADER, runIdOf(invocation.headers.id));
    if (isAnswered) return this.respond(address, target, invocation, stay, req, res);
    // 4. Make the invocation durable. The event is acknowledged only after that.
    const [offset] = await deps.log.publish([invocation]);
    if (isDropped(offset)) return this.refuseDeleted(res);
    stay.end();
    deps.metrics.accepted();
    // 5. Answer at once.
    if (trigger) return this.reply(address, target, replyAtOnce(trigger), req, res);
    res.writeHead(200, ACCEPTED_HEADERS).end(ACCEPTED);
  }

  /** Steps 4 and 5 of `accept`, for an endpoint that answers with the component's response. */
  private async respond(
    address: Address,
    target: EndpointTarget,
    invocation: Invocation,
    stay: Stay,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { log, relay, replyTimeoutMs, metrics } = this.deps;
    res.once('close', () => relay.cancel(invocation.headers.id));
    const asked = await ask(log, invocation, {
      expect: (id) => relay.expect(id, target.trigger?.replyTimeoutMs ?? replyTimeoutMs),
      cancel: (id) => relay.cancel(id),
    });
    if (!asked) return this.refuseDeleted(res);
    stay.end();
    metrics.accepted();
    const answer = await asked.answer;
    if (res.destroyed) return;
    if (!answer) return this.refuse(res, 504, 'timeout', 'there was no response in time; the event is stored');
    this.reply(address, target, answer, req, res);
  }

  /**
   * Sends the component's reply. A reply that cannot be sent is the component's failure, which only this caller sees.
   */
  private reply(
    address: Address,
    target: EndpointTarget,
    answer: HttpReply,
    req: IncomingMessage,
    res: ServerResponse,
  ): void {
    const bytes = answer.body.length;
    if (bytes > UNCOUNTED_BYTES) {
      const { answers } = this.deps.bytes;
      const holders = { workspace: target.workspaceId };
      const refused = answers.tryHold(holders, bytes);
      if (refused) return this.refuseBody(res, { refused });
      res.once('close', () => answers.release(holders, bytes));
    }
    try {
      sendReply(res, answer, req.method === 'HEAD', address.base);
    } catch (error) {
      const text = `respond: the reply cannot be sent: ${messageOf(error)}`;
      answerAtLast(res, { status: 500, code: 'run_failed', error: text, headers: lastHeaders(address) });
      this.deps.logger.error({ source: target.sourceId, error: String(error) }, 'ingress.reply_not_sent');
    }
  }

  /** Reads the address in path mode (`/h/<key>/…`) or host mode (`<key>.<domain>`). */
  private addressOf(req: IncomingMessage): Address | undefined {
    const url = req.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const query = mark === -1 ? '' : url.slice(mark + 1);
    if (path.startsWith('/h/')) {
      const end = path.indexOf('/', 3);
      return end === -1
        ? { key: path.slice(3), base: path, path: '/', query }
        : { key: path.slice(3, end), base: path.slice(0, end), path: path.slice(end), query };
    }
    const { domain } = this.deps;
    const host = domain === null ? undefined : req.headers.host?.split(':', 1)[0]?.toLowerCase();
    if (host === undefined || !host.endsWith(`.${domain}`)) return undefined;
    return { key: host.slice(0, -(String(domain).length + 1)), base: null, path, query };
  }

  private refuseDeleted(res: ServerResponse): void {
    this.refuse(res, 404, 'not_found', 'the source or workflow was deleted');
  }

  private refuseBody(res: ServerResponse, body: Exclude<Body, 'client left'>, coding = ''): void {
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

  private refuse(
    res: ServerResponse,
    status: number,
    code: string,
    error: string,
    headers: Record<string, string> = {},
  ): void {
    this.deps.metrics.refused(status);
    const body = JSON.stringify({ error, code });
    const length = String(Buffer.byteLength(body));
    res.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...CORS_ORIGIN, ...headers });
    res.end(body);
  }
}

/** The time from admission until the event is stored or abandoned. */
class Stay {
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

const CORS_ORIGIN = { 'access-control-allow-origin': '*' };

/** Headers of an answer that replaces the headers set before. */
const lastHeaders = ({ base }: Address): Record<string, string> =>
  base === null ? CORS_ORIGIN : { ...CORS_ORIGIN, 'content-security-policy': SANDBOX_POLICY };

const NOT_STORED = 'the event could not be stored: send it again';
const ACCEPTED = '{"success":true}';
const ACCEPTED_HEADERS = {
  ...CORS_ORIGIN,
  'content-type': 'application/json',
  'content-length': String(ACCEPTED.length),
};

const plainHeaders = (req: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const name in req.headers) {
    const value = req.headers[name];
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
};
