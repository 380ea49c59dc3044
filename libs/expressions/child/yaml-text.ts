/** Reads YAML of users. Runs in the jail, because the text determines the recursion, time and memory of the parser. */
import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
} from 'yaml';
import {
  MAX_FAULTS,
  MAX_FAULT_TEXT,
  MAX_VALUE_BYTES,
  MAX_YAML_ALIASES,
  MAX_YAML_LEVELS,
  MAX_YAML_VALUES,
  type Place,
  type ValuePath,
  type YamlFault,
} from '../messages.js';

export type ReadYaml =
  | { readonly kind: 'value'; readonly json: string }
  | { readonly kind: 'faults'; readonly faults: readonly YamlFault[] }
  | { readonly kind: 'too_large' };

class TooLarge extends Error {}

/** Makes JSON of one YAML 1.2 document of the core schema. An alias counts once for each use. */
export const readYaml = (text: string): ReadYaml => {
  const { document, lines } = parsed(text);
  const reader = new Reader();
  try {
    for (const { code, pos, message } of [...document.errors, ...document.warnings])
      if (code !== 'BAD_DIRECTIVE')
        reader.fault(code === 'TAG_RESOLVE_FAILED' ? 'unsupported' : 'syntax', message, pos[0]);
    const { value } = reader.read(document.contents, 0);
    const [first] = reader.faults;
    if (first === undefined) return { kind: 'value', json: JSON.stringify(value) };
  } catch (error) {
    if (error instanceof TooLarge) return { kind: 'too_large' };
    throw error;
  }
  const faults = reader.faults.map(({ code, message, at }): YamlFault => {
    const [line, column] = placeOf(lines, at);
    return [code, message, line, column];
  });
  return { kind: 'faults', faults };
};

/** Places of values, or of what holds a value that is missing. */
export const locate = (text: string, paths: readonly ValuePath[]): readonly Place[] => {
  const { document, lines } = parsed(text);
  return paths.map((path) => placeOf(lines, offsetOf(document, path)));
};

const parsed = (text: string): { readonly document: Document.Parsed; readonly lines: LineCounter } => {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    resolveKnownTags: false,
    merge: false,
    // The library compares each key with all others. The reader below does so in linear time.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter: lines,
  });
  return { document, lines };
};

const placeOf = (lines: LineCounter, at: number): Place => {
  const { line, col } = lines.linePos(at);
  return [Math.max(1, line), Math.max(1, col)];
};

interface Value {
  readonly value: unknown;
  /** Bytes as JSON. */
  readonly bytes: number;
  readonly values: number;
  /** Levels of containers. */
  readonly levels: number;
}

const NOTHING: Value = { value: null, bytes: 4, values: 1, levels: 0 };

interface FaultAt {
  readonly code: YamlFault[0];
  readonly message: string;
  readonly at: number;
}

/** Makes plain values of nodes, each node once. */
class Reader {
  readonly faults: FaultAt[] = [];
  private readonly anchors = new Map<string, Value>();
  private aliases = 0;
  private bytes = 0;
  private values = 0;

  fault(code: YamlFault[0], message: string, at: number): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push({ code, message: message.slice(0, MAX_FAULT_TEXT), at });
  }

  /** @param level number of containers around the node */
  read(node: unknown, level: number): Value {
    if (isAlias(node)) return this.alias(node.source, startOf(node), level);
    const value = isScalar(node) ? this.scalar(node.value, startOf(node)) : this.container(node, level + 1);
    if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) this.anchors.set(node.anchor, value);
    return value;
  }

  private alias(name: string, at: number, level: number): Value {
    this.aliases++;
    if (this.aliases === MAX_YAML_ALIASES + 1)
      this.fault('range', `there are more than ${MAX_YAML_ALIASES} aliases, which is the limit`, at);
    const value = this.anchors.get(name);
    if (value === undefined) {
      this.fault('syntax', `*${name} names no anchor that ends before it`, at);
      return NOTHING;
    }
    this.count(value.bytes, value.values);
    if (level + value.levels > MAX_YAML_LEVELS) this.tooDeep(at);
    return value;
  }

  private scalar(value: unknown, at: number): Value {
    if (typeof value === 'number' && !Number.isFinite(value)) this.fault('type', `${value} has no JSON`, at);
    return this.counted(value, Buffer.byteLength(JSON.stringify(value) ?? ''), 0);
  }

  private counted(value: unknown, bytes: number, levels: number): Value {
    this.count(bytes, 1);
    return { value, bytes, values: 1, levels };
  }

  private count(bytes: number, values: number): void {
    this.bytes += bytes;
    this.values += values;
    if (this.bytes > MAX_VALUE_BYTES || this.values > MAX_YAML_VALUES) throw new TooLarge();
  }

  private tooDeep(at: number): void {
    this.fault('range', `the definition nests deeper than ${MAX_YAML_LEVELS} levels`, at);
  }

  private container(node: unknown, level: number): Value {
    if (!isCollection(node)) return this.counted(null, NOTHING.bytes, 0);
    if (level > MAX_YAML_LEVELS) {
      this.tooDeep(startOf(node));
      return NOTHING;
    }
    const before = { bytes: this.bytes, values: this.values };
    this.count(2, 1);
    const [value, levels] = isMap(node) ? this.map(node.items, level) : this.list(node.items, level);
    return { value, levels, bytes: this.bytes - before.bytes, values: this.values - before.values };
  }

  private list(items: readonly unknown[], level: number): [value: unknown, levels: number] {
    let levels = 0;
    const value = items.map((item) => {
      this.count(1, 0);
      const each = this.read(item, level);
      levels = Math.max(levels, each.levels);
      return each.value;
    });
    return [value, levels + 1];
  }

  private map(items: readonly unknown[], level: number): [value: unknown, levels: number] {
    let levels = 0;
    const value = Object.create(null) as Record<string, unknown>;
    for (const pair of items) {
      if (!isPair(pair)) continue;
      const key = keyOf(pair.key);
      const at = startOf(pair.key);
      if (key === undefined) {
        this.fault('syntax', 'a key must be a text, a number, true, false or null', at);
        continue;
      }
      if (Object.hasOwn(value, key)) this.fault('duplicate', `the key ${key} is there before`, at);
      this.count(Buffer.byteLength(JSON.stringify(key)) + 2, 0);
      const each = this.read(pair.value, level);
      levels = Math.max(levels, each.levels);
      value[key] = each.value;
    }
    return [value, levels + 1];
  }
}

const keyOf = (key: unknown): string | undefined => {
  if (key === null) return 'null';
  if (!isScalar(key)) return undefined;
  if (typeof key.value === 'string') return key.value;
  return key.source ?? String(key.value);
};

const startOf = (node: unknown): number => {
  const range = isScalar(node) || isCollection(node) || isAlias(node) ? node.range : undefined;
  return range?.[0] ?? 0;
};

/** Offset of the key or element at a path. Where the path goes on and the text does not, that of its last part there. */
const offsetOf = (document: Document.Parsed, path: ValuePath): number => {
  let node: unknown = document.contents;
  let at = startOf(node);
  for (const part of path) {
    const inside: unknown = isAlias(node) ? node.resolve(document) : node;
    if (!isCollection(inside)) return at;
    const found = isMap(inside)
      ? inside.items.find((pair) => keyOf(pair.key) === String(part))
      : (inside.items[Number(part)] as Node | undefined);
    if (found === undefined || found === null) return at;
    at = startOf(isPair(found) ? found.key : found) || at;
    node = isPair(found) ? found.value : found;
  }
  return at;
};
