import { type IncomingMessage, type ServerResponse } from 'node:http';
import { answerAtLast } from '#libs/http/last-answer.js';
import { UNCOUNTED_BYTES } from '#libs/http/read-body.js';
import { Faults } from '#libs/kernel/faults.js';
import { SANDBOX_POLICY } from '#libs/component-model/endpoint-reply.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { ask, isDropped } from '#libs/stream-log/ask.js';
import { httpInvocation, type Invocation, runIdOf, testEventInvocation } from '#libs/stream-log/invocations.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type EndpointEvent, endpointEvent } from './endpoint-event.js';
import { CORS, CORS_ORIGIN, Intake, type IntakeDependencies, type Stay } from './intake.js';
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

export interface IngressDependencies extends IntakeDependencies {
  /** Finds an endpoint by its key; undefined when the key is unknown, or its source is inactive or deleted. */
  readonly endpoint: (key: string) => EndpointTarget | undefined;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly relay: ResponseRelay;
  /** Endpoints answer at `<key>.<domain>` too. */
  readonly domain: string | null;
  /** How long a caller waits for `respond`: the run's time limit plus a margin. */
  readonly replyTimeoutMs: number;
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

/** Role `ingress`: step 1 of the path of an event (docs/architecture.md). Plain node:http, ahead of the API. */
export class Ingress {
  /** A log that accepts no events fails every request in the same way. */
  private readonly faults: Faults;
  private readonly intake: Intake;

  constructor(private readonly deps: IngressDependencies) {
    this.faults = new Faults({ say: (text, fields) => deps.logger.error(fields, text) });
    this.intake = new Intake(deps);
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
    if (!target) return this.intake.refuse(res, 404, 'not_found', `no active endpoint ${address.key}`);
    if (req.method === 'OPTIONS') return void res.writeHead(204, CORS).end();
    if (!isAuthorized(target.trigger, req))
      return this.intake.refuse(res, 401, 'unauthorized', NO_TOKEN, { 'www-authenticate': 'Bearer' });

    // 2. Read the request as an event. Its sender is answered when there is no room for it.
    const { sourceId, workspaceId } = target;
    await this.intake.receive(
      { rateKey: address.key, sourceId, workspaceId },
      (body) => this.eventOf(address, target, body, req),
      ({ event, switches }, stay) => this.accept(address, target, event, switches, stay, req, res),
      req,
      res,
    );
  }

  private async eventOf(
    address: Address,
    target: EndpointTarget,
    body: Buffer,
    req: IncomingMessage,
  ): Promise<{ readonly text: string; readonly event: EndpointEvent; readonly switches: Switches }> {
    const switches = switchesOf(req, address.query);
    const request = this.intake.requestOf(req, address, body);
    const headers = withoutToken(target.trigger, request.headers);
    const event = await endpointEvent({ ...request, headers }, !switches.notrigger);
    return { text: event.text, event, switches };
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
    // 3. Make the invocation durable. The event is acknowledged only after that.
    const [offset] = await deps.log.publish([invocation]);
    if (isDropped(offset)) return this.refuseDeleted(res);
    stay.end();
    deps.metrics.accepted(workspaceId);
    // 4. Answer at once.
    if (trigger) return this.reply(address, target, replyAtOnce(trigger), req, res);
    res.writeHead(200, ACCEPTED_HEADERS).end(ACCEPTED);
  }

  /** Steps 3 and 4, for an endpoint that answers with the component's response. */
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
    metrics.accepted(target.workspaceId);
    const answer = await asked.answer;
    if (res.destroyed) return;
    if (!answer) return this.intake.refuse(res, 504, 'timeout', 'there was no response in time; the event is stored');
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
      if (refused) return this.intake.refuseBody(res, { refused });
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
    this.intake.refuse(res, 404, 'not_found', 'the source or workflow was deleted');
  }
}

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
