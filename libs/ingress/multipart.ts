import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import busboy from 'busboy';
import { MAX_FIELDS } from './field-limit.js';
import { RefusedRequest } from './refused-request.js';

const BYTES_A_TURN = 16 * 1024;
/** Longest boundary that RFC 2046 allows. */
const MAX_BOUNDARY = 70;
const MAX_NAME = 1024;
const MAX_PART_HEADERS = 50;

interface File {
  readonly filename: string | undefined;
  readonly mimetype: string;
  content: string;
}

/**
 * Parses fields and files by name; those of one name become a list. Resolves with undefined for a body that does not
 * match its type. Rejects with RefusedRequest for too many fields.
 */
export const multipartFields = (contentType: string, body: Buffer): Promise<object | undefined> =>
  new Promise((resolve, reject) => {
    const parser = parserOf(contentType, body.length);
    if (!parser) return resolve(undefined);
    // Without a prototype, `__proto__` is a name like any other.
    const fields = Object.create(null) as Record<string, unknown>;
    const add = (given: string, value: string | File): void => {
      const name = nameOf(given);
      const before = fields[name];
      if (before === undefined) fields[name] = value;
      else if (Array.isArray(before)) before.push(value);
      else fields[name] = [before, value];
    };
    const source = Readable.from(inTurns(body));
    const end = (): void => {
      source.unpipe(parser);
      source.destroy();
    };
    const tooMany = (): void => {
      end();
      reject(new RefusedRequest('too_many_fields', `the body has more than ${MAX_FIELDS} fields, which is the limit`));
    };
    parser.on('field', (name, value: string | undefined) => {
      // The parser has no decoder for the charset of this part. No field may vanish, so the body stays text.
      if (value !== undefined) return add(name, value);
      end();
      resolve(undefined);
    });
    parser.on('file', (name, stream, { filename, mimeType }) => {
      const file: File = {
        filename: filename === undefined ? filename : nameOf(filename),
        mimetype: mimeType,
        content: '',
      };
      // The next part may come before the end of this one, so a list gets the file at once.
      add(name, file);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        file.content = Buffer.concat(chunks).toString('base64');
      });
      // A body that ends within a file; the parser reports it too.
      stream.on('error', () => resolve(undefined));
    });
    parser.on('partsLimit', tooMany);
    parser.on('error', () => {
      end();
      resolve(undefined);
    });
    parser.on('close', () => resolve(fields));
    source.pipe(parser);
  });

/** Returns undefined without a boundary, and for a boundary that is too long. */
const parserOf = (contentType: string, bodyBytes: number): ReturnType<typeof busboy> | undefined => {
  const boundary = /;\s*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(contentType);
  if ((boundary?.[1] ?? boundary?.[2] ?? '').length > MAX_BOUNDARY) return undefined;
  // Names are the Latin-1 text of their bytes; see `nameOf`.
  const limits = {
    // The parser reports the limit when it is reached, not when it is exceeded.
    parts: MAX_FIELDS + 1,
    fieldSize: bodyBytes,
    fieldNameSize: MAX_NAME,
    headerPairs: MAX_PART_HEADERS,
  };
  try {
    return busboy({ headers: { 'content-type': contentType }, defParamCharset: 'latin1', limits });
  } catch {
    return undefined;
  }
};

async function* inTurns(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += BYTES_A_TURN) {
    yield body.subarray(at, at + BYTES_A_TURN);
    await turn();
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Browsers send names as UTF-8. A name in another encoding stays Latin-1, the encoding of older senders. `filename*`
 * names its charset and is already decoded.
 */
const nameOf = (latin1: string): string => {
  if (!/^[\x00-\xff]*[\x80-\xff][\x00-\xff]*$/.test(latin1)) return latin1;
  try {
    return utf8.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return latin1;
  }
};
