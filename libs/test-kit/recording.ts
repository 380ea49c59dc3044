import { isUtf8 } from 'node:buffer';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readLimited } from '#libs/async/read-limited.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type SecretMask } from '#libs/runner/outcome/secret-mask.js';
import { type AnsweredRequest, type HeaderPairs, type SentRequest } from '#libs/sandbox/index.js';
import { type Request, type Stub } from './published.js';

const MASK = '********';
/** Time in which a recorded request is answered. */
const TIMEOUT_MS = 30_000;
/** Longest answer. The file keeps all of it. */
const MOST_BYTES = 8 * 1024 * 1024;

/** A request and its answer in a file, without secrets. */
interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly body?: unknown;
  readonly reply: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    readonly body?: unknown;
    /** A body that is no text. */
    readonly base64?: string;
  };
}

/** The requests that this process recorded, by the file that they go to. */
const recorded = new Map<string, RecordedRequest[]>();

/** Sends requests of a component to the network, and keeps them with their answers in a file. */
export class Recorder {
  constructor(
    private readonly file: string,
    private readonly mask: () => SecretMask,
  ) {}

  async answer(sent: SentRequest, request: Request): Promise<AnsweredRequest> {
    const answered = await overNetwork(sent);
    const all = recorded.get(this.file) ?? [];
    all.push(recordOf(request, answered, this.mask()));
    recorded.set(this.file, all);
    return answered;
  }

  /** Replaces the file as a whole. */
  save(): void {
    const all = recorded.get(this.file) ?? [];
    mkdirSync(path.dirname(this.file), { recursive: true });
    const part = `${this.file}.${process.pid}.part`;
    writeFileSync(part, `${JSON.stringify(all, null, 2)}\n`);
    renameSync(part, this.file);
  }
}

/** Stubs of a file, each for one request. */
export const recordedStubs = (file: string): readonly Stub[] => {
  if (!existsSync(file)) throw new Error(`http: there is no file ${file}: record it once with "sluice test --record"`);
  try {
    const requests = JSON.parse(readFileSync(file, 'utf8')) as readonly RecordedRequest[];
    return requests.map(({ reply: { base64, ...reply }, ...request }) => ({
      ...request,
      times: 1,
      reply: base64 === undefined ? reply : { ...reply, body: Buffer.from(base64, 'base64') },
    }));
  } catch (error) {
    throw new Error(`http: ${file} holds no recorded requests (${messageOf(error)}): record it again`);
  }
};

/** The request as a file has it, which has no secrets. */
export const maskedRequest = (request: Request, mask: SecretMask): Request => ({
  ...request,
  url: mask.text(request.url),
  body: maskedBody(request.body, mask),
});

const maskedBody = (body: unknown, mask: SecretMask): unknown => {
  if (typeof body === 'string') return mask.text(body);
  return JSON.parse(mask.json(JSON.stringify(body))) as unknown;
};

/** Headers of one connection, which the next one has of its own. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const overNetwork = async ({ method, url, headers, body }: SentRequest): Promise<AnsweredRequest> => {
  const bytes = Buffer.from(body, 'base64');
  const answer = await fetch(url, {
    method,
    headers: headers.flatMap(([name, value]): [string, string][] => (OF_CONNECTIONS.has(name) ? [] : [[name, value]])),
    ...(bytes.length === 0 ? {} : { body: bytes }),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const content = answer.body === null ? Buffer.alloc(0) : await readLimited(answer.body, MOST_BYTES);
  if (content === undefined) throw new Error(`${method} ${url} answered with more than ${MOST_BYTES} bytes`);
  // `fetch` has undone the encoding of the content.
  const pairs = [...answer.headers].filter(([name]) => !OF_CONNECTIONS.has(name) && name !== 'content-encoding');
  return { status: answer.status, headers: pairs, body: content.toString('base64') };
};

const recordOf = (request: Request, { status, headers, body }: AnsweredRequest, mask: SecretMask): RecordedRequest => {
  const { method, url, body: sent } = maskedRequest(request, mask);
  return {
    method,
    url,
    ...(sent === '' ? {} : { body: sent }),
    reply: { status, headers: maskedHeaders(headers, mask), ...contentOf(Buffer.from(body, 'base64'), headers, mask) },
  };
};

const SECRET_HEADER = /^(?:set-cookie|cookie|authorization|proxy-authorization)$/;

const maskedHeaders = (headers: HeaderPairs, mask: SecretMask): Record<string, string> =>
  Object.fromEntries(headers.map(([name, value]) => [name, SECRET_HEADER.test(name) ? MASK : mask.text(value)]));

/** A number of so many digits would change as a value. */
const LONG_NUMBER = /\d{16}/;

const contentOf = (
  content: Buffer,
  headers: HeaderPairs,
  mask: SecretMask,
): Pick<RecordedRequest['reply'], 'body' | 'base64'> => {
  if (content.length === 0) return {};
  if (!isUtf8(content)) return { base64: content.toString('base64') };
  const text = content.toString('utf8');
  const isJson = headers.some(([name, value]) => name === 'content-type' && /[/+]json\b/i.test(value));
  if (!isJson || LONG_NUMBER.test(text)) return { body: mask.text(text) };
  try {
    return { body: JSON.parse(mask.json(text)) as unknown };
  } catch {
    return { body: mask.text(text) };
  }
};
