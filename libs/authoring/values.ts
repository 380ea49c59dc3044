/** JSON that others choose: a body, an event, fields of an account. Its author knows its shape. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- `unknown` would ask authors for a check of each field
export type AnyValue = any;

/** What `run` gets from an HTTP interface. */
export interface HttpEvent {
  method: string;
  /** Below the endpoint, beginning with `/`. */
  path: string;
  /** A repeated key is a list. */
  query: Record<string, string | string[]>;
  /** Names are in lower case. */
  headers: Record<string, string>;
  bodyRaw: string;
  /** The parsed body: of JSON its value, of a form an object, else the text. */
  body: AnyValue;
  client_ip: string;
  url: string;
  /** For a body that is no text. */
  isBase64Encoded?: true;
}

interface ZonedTime {
  iso8601: { timestamp: string; date: string; time: string; timezone: string };
  epoch: number;
}

/** What `run` gets from a timer. */
export interface TimerEvent {
  /** Scheduled time, in epoch seconds. */
  timestamp: number;
  interval_seconds?: number;
  cron?: string;
  timezone_configured: ZonedTime;
  timezone_utc: ZonedTime;
}

export interface HttpReply {
  /** 200 when it is missing. */
  status?: number;
  headers?: Headers | Record<string, string | number | readonly string[] | null | undefined>;
  /** A text, bytes or a stream; anything else is sent as JSON. */
  body?: AnyValue;
  /** Answers now, and not when what the run left is durable. */
  immediate?: boolean;
}

/** A prop of type `$.interface.http`. */
export interface HttpInterface {
  /** URL of the endpoint. */
  endpoint: string;
  /** Answers the caller, with `customResponse: true`. The first call counts. */
  respond(reply?: HttpReply): Promise<void>;
}

/** A prop of type `$.interface.timer`. */
export interface TimerInterface {
  type: string;
  intervalSeconds?: number;
  cron?: string;
}

/** A prop of type `$.service.db`: at most 60 KB a value and 1 MB in all. */
export interface Db {
  get<T = AnyValue>(key: string): T | undefined;
  /** `undefined` deletes the key. */
  set(key: string, value: unknown): void;
}

/** A prop of type `data_store`. */
export interface DataStore extends AsyncIterable<[string, AnyValue]> {
  get<T = AnyValue>(key: string): Promise<T | undefined>;
  /** `ttl` is in seconds. */
  set(key: string, value: unknown, options?: { ttl?: number } | null): Promise<void>;
  /** Resolves with whether the record exists. `null` keeps it indefinitely. */
  setTtl(key: string, seconds: number | null): Promise<boolean>;
  has(key: string): Promise<boolean>;
  /** Resolves with whether the record existed. */
  delete(key: string): Promise<boolean>;
  clear(): Promise<void>;
  keys(): Promise<string[]>;
  entries(): Promise<[string, AnyValue][]>;
  size(): Promise<number>;
  /** Adds atomically, and resolves with the sum. */
  incr(key: string, by?: number): Promise<number>;
}

/** A prop of type `http_request`. Changes of its fields count for the next `execute`. */
export interface HttpRequest {
  url: AnyValue;
  method?: string;
  params?: AnyValue;
  headers?: AnyValue;
  body?: AnyValue;
  auth?: AnyValue;
  /** Sends the request, and resolves with the body of the answer. */
  execute(): Promise<AnyValue>;
}

export interface EventMetadata {
  /** What dedupe compares. */
  id?: string | number;
  /** Channel. Without one it is the default channel. */
  name?: string;
  summary?: string;
  /** In epoch milliseconds. Events of a run leave oldest first. */
  ts?: number | Date;
  /** Keeps the event back until then, in epoch milliseconds. */
  delivery_ts?: number | Date;
}

export interface Emitter {
  /** Emits an event when the run ends. */
  $emit(event: unknown, metadata?: EventMetadata): Promise<void>;
}
