import busboy from 'busboy';
import { Readable } from 'node:stream';
import { parse as parseQuery } from 'node:querystring';

/** What arrived at an endpoint. `headers` have lower-case keys. */
export interface EndpointRequest {
  readonly method: string;
  /** Below the endpoint, beginning with `/`. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly clientIp: string;
  readonly url: string;
}

/** JSON deeper than this is refused (decisions.md 1.12). */
export const MAX_NESTING = 256;

export class TooDeep extends Error {
  constructor() {
    super(`JSON body is nested deeper than ${MAX_NESTING} levels: flatten it`);
    this.name = 'TooDeep';
  }
}

/**
 * The JSON text of the event that `run` receives (component-model.md "HTTP", decisions.md 2.11). A JSON body is spliced
 * in as the text that arrived, checked but not written anew. Throws TooDeep.
 */
export const endpointEvent = async (request: EndpointRequest): Promise<string> => {
  const { bodyRaw, body, isBase64 } = await bodyOf(request);
  return (
    `{"method":${JSON.stringify(request.method)},"path":${JSON.stringify(request.path)},` +
    `"query":${JSON.stringify(queryOf(request.query))},"headers":${JSON.stringify(request.headers)},` +
    `"bodyRaw":${JSON.stringify(bodyRaw)},"body":${body},"client_ip":${JSON.stringify(request.clientIp)},` +
    `"url":${JSON.stringify(request.url)}${isBase64 ? ',"isBase64Encoded":true' : ''}}`
  );
};

interface ParsedBody {
  readonly bodyRaw: string;
  /** JSON text. */
  readonly body: string;
  readonly isBase64?: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const bodyOf = async ({ headers, body }: EndpointRequest): Promise<ParsedBody> => {
  if (body.length === 0) return { bodyRaw: '', body: '{}' };
  const contentType = headers['content-type'] ?? '';
  const type = (contentType.split(';', 1)[0] as string).trim().toLowerCase();
  if (type.startsWith('multipart/')) return multipart(contentType, body);
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    // Not text: kept whole, as base64.
    const base64 = body.toString('base64');
    return { bodyRaw: base64, body: JSON.stringify(base64), isBase64: true };
  }
  if (type === 'application/x-www-form-urlencoded') {
    // `curl -d '{…}'` sends JSON under this type without meaning a form.
    const isForm = !/^\s*[{[]/.test(text);
    return { bodyRaw: text, body: JSON.stringify(isForm ? queryOf(text) : text) };
  }
  return { bodyRaw: text, body: looksLikeJson(type, text) ? jsonOrText(text) : JSON.stringify(text) };
};

const looksLikeJson = (type: string, text: string): boolean =>
  type === 'application/json' || type.endsWith('+json') || /^\s*[{[]/.test(text);

const jsonOrText = (text: string): string => {
  try {
    JSON.parse(text);
  } catch {
    return JSON.stringify(text);
  }
  if (tooDeep(text)) throw new TooDeep();
  return text;
};

/** Most bodies do not even hold that many brackets, which is quickly seen. */
const mayBeTooDeep = (json: string): boolean => {
  let open = 0;
  for (const bracket of ['{', '[']) {
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1)) {
      if (++open > MAX_NESTING) return true;
    }
  }
  return false;
};

const tooDeep = (json: string): boolean => {
  if (!mayBeTooDeep(json)) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (inString) {
      if (c === 92) i++;
      else if (c === 34) inString = false;
    } else if (c === 34) inString = true;
    else if (c === 123 || c === 91) {
      if (++depth > MAX_NESTING) return true;
    } else if (c === 125 || c === 93) depth--;
  }
  return false;
};

/** Repeated keys become an array. */
const queryOf = (text: string): Record<string, string | string[] | undefined> => {
  if (text === '') return {};
  return { ...parseQuery(text) };
};

const multipart = (contentType: string, body: Buffer): Promise<ParsedBody> =>
  new Promise((resolve) => {
    const bodyRaw = body.toString('latin1');
    const asText = (): void => resolve({ bodyRaw, body: JSON.stringify(bodyRaw) });
    let parser: ReturnType<typeof busboy>;
    try {
      parser = busboy({ headers: { 'content-type': contentType } });
    } catch {
      // No boundary: it stays text, like any body that is not what its type says.
      return asText();
    }
    const fields: Record<string, unknown> = {};
    parser.on('field', (name, value) => (fields[name] = value));
    parser.on('file', (name, stream, { filename, mimeType }) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        fields[name] = { filename, mimetype: mimeType, content: Buffer.concat(chunks).toString('base64') };
      });
    });
    parser.on('error', asText);
    parser.on('close', () => resolve({ bodyRaw, body: JSON.stringify(fields) }));
    Readable.from([body]).pipe(parser);
  });
