import { Agent, request, type Dispatcher } from 'undici';

export interface Reply<T = unknown> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed JSON; undefined for an empty or non-JSON body. */
  readonly body: T;
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. A string or Buffer is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Key to use instead of the client's. null sends no Authorization header. */
  readonly key?: string | null;
}

export interface Component {
  readonly id: string;
  readonly code: string;
  readonly code_hash: string;
  readonly name: string;
  readonly version: string;
  readonly key: string | null;
  readonly configurable_props: readonly Record<string, unknown>[];
  readonly created_at: number;
  readonly updated_at: number;
}

export interface Source {
  readonly id: string;
  readonly user_id?: string;
  readonly component_id: string;
  readonly configured_props: Readonly<Record<string, unknown>>;
  readonly active: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  readonly name: string;
  readonly name_slug: string;
}

export interface Subscription {
  readonly id: string;
  readonly emitter_id: string;
  readonly listener_id: string;
  readonly event_name: string;
}

export interface Webhook {
  readonly id: string;
  readonly user_id?: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  readonly active: boolean;
  readonly timeout_s: number | null;
  readonly max_attempts: number | null;
  readonly ordered: boolean;
  readonly signing_key?: string;
  readonly signing_key_set?: boolean;
}

export interface EventSummary {
  readonly id: string;
  readonly indexed_at_ms: number;
  readonly event: unknown;
  readonly metadata: Readonly<Record<string, unknown>> & { emit_id: string; name: string; emitter_id: string };
  readonly truncated?: boolean;
}

export interface PageInfo {
  readonly total_count: number;
  readonly count: number;
  readonly start_cursor: string | null;
  readonly end_cursor: string | null;
}

export interface Data<T> {
  readonly data: T;
}

export interface Paged<T> {
  readonly page_info: PageInfo;
  readonly data: readonly T[];
}

export interface ErrorBody {
  readonly error: string;
  readonly code: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Thrown when the status differs from the one that the caller expects. */
export class UnexpectedReply extends Error {
  constructor(
    readonly call: string,
    readonly reply: Reply,
  ) {
    super(`${call} answered ${reply.status}: ${reply.text.slice(0, 2_000)}`);
    this.name = 'UnexpectedReply';
  }
}

/** Current address of the server, whose port changes on restart. */
export interface Target {
  readonly url: string;
  readonly apiKey: string;
}

/** Client of the v1 API. `call` never throws on a status. The named methods expect success. */
export class ApiClient {
  private readonly agent = new Agent({ connections: 32, headersTimeout: 120_000, bodyTimeout: 120_000 });

  constructor(private readonly target: Target) {}

  async call<T = unknown>(method: Dispatcher.HttpMethod, path: string, options: CallOptions = {}): Promise<Reply<T>> {
    const key = options.key === undefined ? this.target.apiKey : options.key;
    const raw = typeof options.body === 'string' || Buffer.isBuffer(options.body) ? options.body : undefined;
    const reply = await request(`${this.target.url}${path}`, {
      method,
      dispatcher: this.agent,
      ...(options.query ? { query: options.query } : {}),
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(options.body !== undefined && raw === undefined ? { 'content-type': 'application/json' } : {}),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: raw ?? JSON.stringify(options.body) }),
    });
    const text = await textOf(reply);
    return { status: reply.statusCode, headers: reply.headers, text, body: jsonOf(text) as T };
  }

  /** Like `call`, but throws UnexpectedReply on any other status. */
  async expect<T>(status: number, method: Dispatcher.HttpMethod, path: string, options: CallOptions = {}): Promise<T> {
    const reply = await this.call<T>(method, path, options);
    if (reply.status !== status) throw new UnexpectedReply(`${method} ${path}`, reply);
    return reply.body;
  }

  async createComponent(code: string): Promise<Component> {
    return (await this.expect<Data<Component>>(200, 'POST', '/v1/components', { body: { component_code: code } })).data;
  }

  async createSource(body: Readonly<Record<string, unknown>>): Promise<Source> {
    return (await this.expect<Data<Source>>(200, 'POST', '/v1/sources', { body })).data;
  }

  async getSource(id: string): Promise<Source> {
    return (await this.expect<Data<Source>>(200, 'GET', `/v1/sources/${id}`)).data;
  }

  async deleteSource(id: string): Promise<void> {
    await this.expect(204, 'DELETE', `/v1/sources/${id}`);
  }

  async createWebhook(url: string, name?: string): Promise<Webhook> {
    const query = { url, ...(name === undefined ? {} : { name }) };
    return (await this.expect<Data<Webhook>>(200, 'POST', '/v1/webhooks', { query })).data;
  }

  async subscribe(emitterId: string, listenerId: string, eventName?: string): Promise<Subscription> {
    const query = {
      emitter_id: emitterId,
      listener_id: listenerId,
      ...(eventName === undefined ? {} : { event_name: eventName }),
    };
    return (await this.expect<Data<Subscription>>(200, 'POST', '/v1/subscriptions', { query })).data;
  }

  async summaries(sourceId: string, query: Readonly<Record<string, string>> = {}): Promise<Paged<EventSummary>> {
    const limited = { limit: '100', ...query };
    return this.expect<Paged<EventSummary>>(200, 'GET', `/v1/sources/${sourceId}/event_summaries`, { query: limited });
  }

  /** Starts one manual run and resolves when it has ended. */
  async runNow(sourceId: string, event?: unknown): Promise<Reply> {
    const reply = await this.call('POST', `/v1/sources/${sourceId}/run`, {
      query: { wait: 'true' },
      body: event === undefined ? {} : { event },
    });
    if (reply.status !== 200) throw new UnexpectedReply(`POST /v1/sources/${sourceId}/run`, reply);
    return reply;
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

/** All of the body; of a stream of events, which has no end, what comes first. */
const textOf = async ({ headers, body }: Dispatcher.ResponseData): Promise<string> => {
  if (headers['content-type'] !== 'text/event-stream') return body.text();
  for await (const chunk of body) return String(chunk);
  return '';
};

const jsonOf = (text: string): unknown => {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** `http://…/h/<key>` of an HTTP source, on the server's current port. */
export const endpointOf = (target: Target, source: Source, prop = 'http'): string => {
  const value = source.configured_props[prop] as { endpoint_url?: string } | undefined;
  if (!value?.endpoint_url) throw new Error(`source ${source.id} has no endpoint under prop ${prop}`);
  return target.url + new URL(value.endpoint_url).pathname.replace(/\/+$/, '');
};
