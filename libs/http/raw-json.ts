/**
 * A value that is JSON text already, in a reply: it is written as it is, neither parsed nor stringified again. The
 * caller vouches that it is JSON.
 */
export class RawJson {
  constructor(readonly text: string) {}
}

/** Whether an item of the reply's `data`, or `data` itself, has raw JSON for one of its fields. */
export const hasRawJson = (reply: unknown): boolean => {
  if (typeof reply !== 'object' || reply === null || !('data' in reply)) return false;
  const items: readonly unknown[] = Array.isArray(reply.data) ? reply.data : [reply.data];
  return items.some((item) => typeof item === 'object' && item !== null && Object.values(item).some(isRaw));
};

/** The JSON of a reply in parts, raw values each a part of their own. As JSON.stringify writes it, for plain values. */
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
