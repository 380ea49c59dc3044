import { Readable } from 'node:stream';
import {
  Injectable,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { hasRawJson, jsonParts } from './raw-json.js';

const TYPE = 'application/json; charset=utf-8';
/** Characters per write. Small parts are joined and a large one is split. */
const WRITE_CHARS = 64 * 1024;

/**
 * Writes replies that hold raw JSON part by part, at the pace of the client. Must be the outermost interceptor, so that
 * the fields are already selected.
 */
@Injectable()
export class RawJsonInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((reply: unknown) => (hasRawJson(reply) ? streamed(reply) : reply)));
  }
}

const streamed = (reply: unknown): StreamableFile =>
  new StreamableFile(Readable.from(gathered(jsonParts(reply)), { objectMode: false }), { type: TYPE });

function* gathered(parts: Iterable<string>): Generator<Buffer, void, undefined> {
  let small: string[] = [];
  let chars = 0;
  for (const part of parts) {
    if (part.length > WRITE_CHARS) {
      if (chars > 0) yield Buffer.from(small.join(''));
      [small, chars] = [[], 0];
      yield* pieces(part);
      continue;
    }
    if (chars + part.length > WRITE_CHARS && chars > 0) {
      yield Buffer.from(small.join(''));
      [small, chars] = [[], 0];
    }
    small.push(part);
    chars += part.length;
  }
  if (chars > 0) yield Buffer.from(small.join(''));
}

function* pieces(text: string): Generator<Buffer, void, undefined> {
  for (let from = 0; from < text.length;) {
    let to = from + WRITE_CHARS;
    // Never split a surrogate pair.
    if (isHighSurrogate(text.charCodeAt(to - 1))) to++;
    yield Buffer.from(text.slice(from, to));
    from = to;
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
