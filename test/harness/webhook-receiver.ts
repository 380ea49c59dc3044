import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo } from 'node:net';

/** One received request, whatever its answer. */
export interface Received {
  /** `webhook-id`: one per delivery, the same on every attempt. */
  readonly webhookId: string;
  readonly emitId: string;
  readonly emitterId: string;
  readonly channel: string;
  readonly attempt: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: unknown;
  readonly at: number;
  /** True when both signatures verify with one of the trusted keys. */
  readonly signed: boolean;
  /** Status of the answer. */
  readonly status: number;
}

export interface Answer {
  readonly status?: number;
  readonly delayMs?: number;
  /** Delays the answer until this resolves. */
  readonly until?: Promise<void>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Chooses the answer to request n, counted from 1. */
export type Behaviour = (n: number, request: Omit<Received, 'status'>) => Answer;

export const always =
  (status: number): Behaviour =>
  () => ({ status });
export const slow =
  (delayMs: number): Behaviour =>
  () => ({ delayMs });

/** A customer's endpoint. It verifies both signatures, records every request, and counts repeats. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  private readonly keys = new Set<string>();
  private readonly watchers = new Set<() => void>();
  private behaviour: Behaviour = () => ({});
  private seen = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new WebhookReceiver(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      // A sender that was killed during its request has not delivered.
      request.on('error', () => response.destroy());
      request.on('end', () => receiver.receive(request, Buffer.concat(chunks).toString('utf8'), response));
    });
    return receiver;
  }

  /** Takes the `signing_key` of the create reply. */
  trust(signingKey: string | undefined): void {
    if (!signingKey) throw new Error('the webhook was created without a signing_key');
    this.keys.add(signingKey);
  }

  behave(behaviour: Behaviour): void {
    this.behaviour = behaviour;
  }

  /** Requests answered 2xx, which the sender knows to be delivered. */
  get accepted(): readonly Received[] {
    return this.received.filter(({ status }) => status >= 200 && status < 300);
  }

  /** Number of deliveries accepted more than once. */
  get duplicates(): number {
    return this.accepted.length - new Set(this.accepted.map(({ webhookId }) => webhookId)).size;
  }

  get unsigned(): number {
    return this.received.filter(({ signed }) => !signed).length;
  }

  /** Resolves as soon as the condition holds. It is checked after every request. */
  until(what: string, holds: (receiver: this) => boolean, timeoutMs = 20_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.watchers.delete(check);
      };
      const check = (): void => {
        if (!holds(this)) return;
        finish();
        resolve();
      };
      const timer = setTimeout(() => {
        finish();
        const { received, accepted } = this;
        reject(
          new Error(`${what}: not so after ${timeoutMs} ms; ${received.length} received, ${accepted.length} accepted`),
        );
      }, timeoutMs);
      this.watchers.add(check);
      check();
    });
  }

  untilAccepted(count: number, timeoutMs?: number): Promise<void> {
    return this.until(`${count} deliveries at ${this.url}`, () => this.accepted.length >= count, timeoutMs);
  }

  /** Forgets the received requests, but not the keys. */
  clear(): void {
    this.received.length = 0;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private receive(request: IncomingMessage, raw: string, response: ServerResponse): void {
    const head = (name: string): string => String(request.headers[name] ?? '');
    const told = {
      webhookId: head('webhook-id'),
      emitId: head('x-pd-emit-id'),
      emitterId: head('x-pd-emitter-id'),
      channel: head('x-pd-event-name'),
      attempt: Number(head('x-pd-attempt')),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      text: raw,
      body: jsonOf(raw),
      at: Date.now(),
      signed: [...this.keys].some((key) => verified(key, request.headers, raw)),
    };
    const { status = 200, delayMs = 0, until, headers = {} } = this.behaviour(++this.seen, told);
    const answer = (): void => {
      response.writeHead(status, { ...headers });
      response.end();
      this.received.push({ ...told, status });
      this.watchers.forEach((check) => check());
    };
    if (until) void until.then(answer);
    else if (delayMs === 0) answer();
    else setTimeout(answer, delayMs);
  }
}

/** Checks `webhook-signature` and `x-pd-signature` as a receiver would (docs/reference/delivery.md#signature-standard). */
export const verified = (signingKey: string, headers: IncomingHttpHeaders, raw: string): boolean =>
  standardVerified(signingKey, headers, raw) && pdVerified(signingKey, headers, raw);

const standardVerified = (signingKey: string, headers: IncomingHttpHeaders, raw: string): boolean => {
  const secret = Buffer.from(signingKey.replace(/^whsec_/, ''), 'base64');
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${raw}`;
  const expected = `v1,${createHmac('sha256', secret).update(content).digest('base64')}`;
  const given = String(headers['webhook-signature'] ?? '').split(' ');
  return freshSeconds(Number(headers['webhook-timestamp'])) && given.some((one) => sameText(one, expected));
};

const pdVerified = (signingKey: string, headers: IncomingHttpHeaders, raw: string): boolean => {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-pd-signature'] ?? ''));
  if (!match) return false;
  const [, t = '', v1 = ''] = match;
  const expected = createHmac('sha256', signingKey).update(`${t}.${raw}`).digest('hex');
  return freshSeconds(Number(t)) && sameText(v1, expected);
};

const freshSeconds = (seconds: number): boolean => Math.abs(Date.now() / 1000 - seconds) < 300;

const sameText = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
