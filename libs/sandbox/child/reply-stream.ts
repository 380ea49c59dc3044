import { RUN_LIMITS } from '../protocol/protocol.js';

/** A Node stream, or a stream of the web. Other iterables are JSON, as everywhere. */
export type BodyStream = AsyncIterable<unknown>;

export const isStream = (body: unknown): body is BodyStream => {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return false;
  return ('pipe' in body && typeof body.pipe === 'function') || body instanceof ReadableStream;
};

/** Reads a stream to its end. Stops it and rejects when it exceeds what a run may send. */
export const bytesOf = async (stream: BodyStream): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream) {
    const bytes = bytesOfPart(part);
    size += bytes.length;
    if (size > RUN_LIMITS.payloadBytes)
      throw Object.assign(
        new Error(
          `respond: the stream has ${size} bytes or more, at most ${RUN_LIMITS.payloadBytes} (6 MB) per run are allowed: answer with a URL instead`,
        ),
        { code: 'FunctionPayloadLimitExceeded' },
      );
    parts.push(bytes);
  }
  return Buffer.concat(parts);
};

const bytesOfPart = (part: unknown): Uint8Array => {
  if (typeof part === 'string') return Buffer.from(part);
  if (part instanceof Uint8Array) return part;
  const got = part === null ? 'null' : typeof part;
  throw new Error(`respond: the stream gave a value of type ${got}: a body is made of texts and bytes`);
};
