/**
 * Value of a reply that is already JSON text. It is written unchanged, neither parsed nor stringified again. The
 * creator guarantees that it is valid JSON.
 */
export class RawJson {
  constructor(readonly text: string) {}
}

/** Whether `data` of a reply, or one of its items, has a field that is raw JSON. */
export const hasRawJson = (reply: unknown): boolean => {
  if (typeof reply !== 'object' || reply === null || !('data' in reply)) return false;
  const items: readonly unknown[] = Array.isArray(reply.data) ? reply.data : [reply.data];
  return items.some((item) => typeof item === 'object' && item !== null && Object.values(item).some(isRaw));
};

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
