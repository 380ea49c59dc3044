import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';

const TYPE = 'application/json; charset=utf-8';
/** Characters per write. Small parts are joined and a large one is split. */
const WRITE_CHARS = 64 * 1024;

/**
 * Value of a reply that is already JSON text. It is written unchanged, neither parsed nor stringified again. The
 * creator guarantees that it is valid JSON.
 */
export class RawJson {
  constructor(readonly text: string) {}
}

/**
 * Length of a reply that is raw JSON, or of that in fields of its `data`, of the items there, or of the lists in them.
 * Undefined when there is none.
 */
export const rawChars = (reply: object): number | undefined => {
  if (isRaw(reply)) return reply.text.length;
  if (!('data' in reply)) return undefined;
  const items: readonly unknown[] = Array.isArray(reply.data) ? reply.data : [reply.data];
  let chars: number | undefined;
  for (const item of items) {
    if (typeof item !== 'object' || item === null) continue;
    for (const value of Object.values(item)) {
      // A single object may have lists of its own.
      const values: readonly unknown[] =
        Array.isArray(value) && items !== reply.data ? value.flatMap(fieldsOf) : [value];
      for (const each of values) if (isRaw(each)) chars = (chars ?? 0) + each.text.length;
    }
  }
  return chars;
};

const fieldsOf = (item: unknown): readonly unknown[] =>
  typeof item === 'object' && item !== null ? Object.values(item) : [];

/** Yields the JSON of a reply in parts, one for each raw value. Plain values are written as JSON.stringify does. */
export function* jsonParts(value: unknown): Generator<string, void, undefined> {
  if (isRaw(value)) yield value.text;
  else if (Array.isArray(value)) {
    yield '[';
    for (let i = 0; i < value.length; i++) {
      if (i > 0) yield ',';
      yield* jsonParts(value[i]);
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    let before = '{';
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonParts(field);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else yield JSON.stringify(value) ?? 'null';
}

const isRaw = (value: unknown): value is RawJson => value instanceof RawJson;

/** The JSON of a reply, made part by part at the pace of the client. */
export const streamedJson = (reply: unknown): StreamableFile =>
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
