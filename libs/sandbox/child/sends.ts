import { WARNING } from '#libs/component-model/run-output.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { isPlain } from './plain-object.js';

/** Time for one request of `$.send.http`, which is not tried again. */
const HTTP_MS = 5_000;
const MAX_SENDS = 100;
const AT_ONCE = 10;
/** Characters of an answer that the log shows. */
const SHOWN = 1_000;

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFilled: Check = (value) => typeof value === 'string' && value !== '';
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isMethod: Check = (value) =>
  typeof value === 'string' && ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(value);
const isUrl: Check = (value) => typeof value === 'string' && URL.canParse(value) && /^https?:/i.test(value);
const isAuth: Check = (value) =>
  isObject(value) && isText((value as Fields)['username']) && isText((value as Fields)['password']);
const isAny: Check = () => true;

const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);

/** Fields of each destination. Others are ignored (docs/reference/component-model.md#action-send). */
const SHAPES = {
  http: {
    method: maybe(isMethod),
    url: isUrl,
    data: isAny,
    headers: maybe(isObject),
    params: maybe(isObject),
    auth: maybe(isAuth),
  },
  email: { subject: isText, text: maybe(isText), html: maybe(isText) },
  emit: { raw_event: isObject, event: isAny },
  s3: { bucket: isFilled, prefix: isText, payload: (value) => value !== undefined },
  sse: { channel: isFilled, payload: (value) => value !== undefined },
} as const satisfies Record<string, Readonly<Record<string, Check>>>;

type Kind = keyof typeof SHAPES;
const KINDS = Object.keys(SHAPES) as Kind[];

/** Throws naming the first wrong field. A value of `auth` and `headers` may be secret, so it is not repeated. */
const checked = (kind: Kind, input: unknown): Fields => {
  if (!isObject(input)) throw new TypeError(`$send.${kind}: invalid value ${shown(input)} for the argument`);
  const fields = input as Fields;
  const checks: Readonly<Record<string, Check>> = SHAPES[kind];
  for (const [field, check] of Object.entries(checks)) {
    if (check(fields[field])) continue;
    const isSecret = field === 'auth' || field === 'headers';
    const value = isSecret ? `of type ${typeof fields[field]}` : shown(fields[field]);
    throw new TypeError(`$send.${kind}: invalid value ${value} for ${field}`);
  }
  return fields;
};

const shown = (value: unknown): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A cyclic value has no JSON.
  }
  const plain = text ?? typeof value;
  return plain.length > 100 ? `${plain.slice(0, 100)}…` : plain;
};

/** Calls of `$.send` in one run. Requests are sent when the run is over; the others are for workflows. */
export class Sends {
  private readonly requests: Fields[] = [];
  private count = 0;

  /** @param log writes a line of the run */
  constructor(private readonly log: (kind: string, text: string) => void) {}

  functions(): Readonly<Record<Kind, (input: unknown) => void>> {
    const entries = KINDS.map((kind) => [kind, (input: unknown) => this.take(kind, checked(kind, input))] as const);
    return Object.fromEntries(entries) as Record<Kind, (input: unknown) => void>;
  }

  /** Sends the requests. A failure is a line in the log, because `run` is over. */
  async deliver(): Promise<void> {
    for (let at = 0; at < this.requests.length; at += AT_ONCE)
      await Promise.all(this.requests.slice(at, at + AT_ONCE).map((request) => this.request(request)));
  }

  private take(kind: Kind, fields: Fields): void {
    if (++this.count > MAX_SENDS) throw new Error(`$send.${kind}: one run may send at most ${MAX_SENDS} messages`);
    if (kind === 'http') this.requests.push(fields);
    else
      this.log(WARNING, `$.send.${kind}: only workflows deliver it, so this single run of an action does not send it`);
  }

  private async request(fields: Fields): Promise<void> {
    const url = new URL(fields['url'] as string);
    const where = `${methodOf(fields)} ${url.origin}${url.pathname}`.toWellFormed();
    try {
      const response = await fetch(withParams(url, fields['params']), {
        ...requestOf(fields),
        signal: AbortSignal.timeout(HTTP_MS),
      });
      const text = (await response.text()).slice(0, SHOWN).toWellFormed();
      this.log('send.http', `${where}: ${response.status}${text === '' ? '' : ` ${text}`}`);
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
      this.log(WARNING, `$.send.http: ${where} failed: ${messageOf(error)}${cause}`.toWellFormed());
    }
  }
}

/** A value as the text of a header or of a part of the query. */
const plainText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

const methodOf = ({ method, data }: Fields): string =>
  typeof method === 'string' ? method : data === undefined || data === null ? 'GET' : 'POST';

const withParams = (url: URL, params: unknown): string => {
  for (const [name, value] of Object.entries((params ?? {}) as Fields))
    for (const one of [value].flat())
      if (one !== undefined && one !== null) url.searchParams.append(name, plainText(one));
  url.username = '';
  url.password = '';
  return url.href;
};

interface Outgoing {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

const requestOf = (fields: Fields): Outgoing => {
  const { data, auth } = fields;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries((fields['headers'] ?? {}) as Fields))
    if (value !== undefined && value !== null) headers[name.toLowerCase()] = plainText(value);
  const { username, password } = (auth ?? {}) as Fields;
  if (auth)
    headers['authorization'] ??= `Basic ${Buffer.from(`${String(username)}:${String(password)}`).toString('base64')}`;
  const method = methodOf(fields);
  if (data === undefined || data === null || method === 'GET' || method === 'HEAD') return { method, headers };
  const isJson = Array.isArray(data) || (typeof data === 'object' && isPlain(data)) || typeof data !== 'string';
  headers['content-type'] ??= isJson ? 'application/json' : 'text/plain';
  return { method, headers, body: isJson ? JSON.stringify(data) : data };
};
