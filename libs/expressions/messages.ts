/** Messages between the server and the jailed process of expressions: a head and, as raw bytes, the texts. */
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { textOf, ProtocolBreach, type RawRecord } from '#libs/framing/records.js';
import { isPlainJson } from '#libs/framing/json-text.js';

/** Type of a step's prop. */
export type PropType = Pick<ConfigurableProp, 'name' | 'type' | 'optional' | 'default'>;

/** Scope of a step's expressions. Texts are JSON, which the server does not parse. */
export interface ExpressionScope {
  /** JSON of each earlier step's exports, and of `trigger`, `{event, context}`. `event` is that of `trigger`. */
  readonly steps: Readonly<Record<string, string>>;
  /** JSON object with the variables, as in `process.env`. */
  readonly env: string;
  /** JSON of the item of `for_each`. */
  readonly item?: string;
  readonly index?: number;
}

/** Lengths, in bytes, of the texts of a scope in the raw part, in this order. */
interface ScopeHead {
  readonly steps: readonly (readonly [namespace: string, bytes: number])[];
  readonly env: number;
  readonly item: number | null;
  readonly index: number | null;
}

export type Question =
  /** Raw: the scope, then a JSON object of values. */
  | { readonly t: 'props'; readonly scope: ScopeHead; readonly types: readonly PropType[]; readonly leftMs: number }
  /** Raw: the scope, then the text. */
  | { readonly t: 'expression'; readonly scope: ScopeHead; readonly place: string; readonly leftMs: number }
  /** Raw: the texts, as JSON of `ExpressionText[]`. */
  | { readonly t: 'parse' }
  /** Raw: YAML. */
  | { readonly t: 'yaml' }
  /** Raw: YAML. */
  | { readonly t: 'locate'; readonly paths: readonly ValuePath[] };

export type ExpressionText = readonly [form: TextForm, text: string];

/** Keys and indexes from a document to one of its values. */
export type ValuePath = readonly (string | number)[];

/** Both count from 1. */
export type Place = readonly [line: number, column: number];

export const YAML_FAULT_CODES = ['syntax', 'duplicate', 'range', 'type', 'unsupported'] as const;
export type YamlFault = readonly [
  code: (typeof YAML_FAULT_CODES)[number],
  message: string,
  line: number,
  column: number,
];

/** `index` is that of the text, and `at` an offset in it, in UTF-16 units. */
export type SyntaxFault = readonly [index: number, message: string, at: number];

/** A `template` is a text with expressions in braces. An `expression` is one expression, whose braces are optional. */
export type TextForm = 'template' | 'expression';

export type Answer =
  /** Raw: JSON. Empty for an expression that gave undefined. */
  | readonly ['value', usedMs: number]
  | readonly ['failed', usedMs: number, name: FailureName, message: string]
  | readonly ['parsed', faults: readonly SyntaxFault[]]
  /** Raw: JSON. */
  | readonly ['document']
  | readonly ['faults', faults: readonly YamlFault[]]
  | readonly ['too_large']
  | readonly ['places', places: readonly Place[]];

export const FAILURE_NAMES = [
  'ExpressionError',
  'ConfigurationError',
  'FunctionPayloadLimitExceeded',
  'JSONNestedPropertyLimitExceeded',
] as const;
export type FailureName = (typeof FAILURE_NAMES)[number];

/** Time for all expressions of a step together. */
export const STEP_MS = 1_000;
/** Bytes of the evaluated props of a step. */
export const MAX_VALUE_BYTES = 6 * 1024 * 1024;
export const MAX_MESSAGE = 2_000;
/** Faults of one answer, and characters of the message of each. */
export const MAX_FAULTS = 50;
export const MAX_FAULT_TEXT = 200;
export const MAX_YAML_ALIASES = 100;
export const MAX_YAML_LEVELS = 64;
/** Keys and values of a document, as of a JSON body (docs/reference/limits.md#api-body-json). */
export const MAX_YAML_VALUES = 25_000;

/** A scope as texts with their lengths. */
export const scopeParts = ({ steps, env, item, index }: ExpressionScope): { head: ScopeHead; texts: Buffer[] } => {
  const texts = [...Object.values(steps), env, ...(item === undefined ? [] : [item])].map((text) => Buffer.from(text));
  const bytes = texts.map(({ length }) => length);
  const namespaces = Object.keys(steps);
  const head: ScopeHead = {
    steps: namespaces.map((namespace, i) => [namespace, bytes[i] ?? 0]),
    env: bytes[namespaces.length] ?? 0,
    item: item === undefined ? null : (bytes.at(-1) ?? 0),
    index: index ?? null,
  };
  return { head, texts };
};

/** Reads a scope from the raw part, and the text that follows it. */
export const readScope = (head: ScopeHead, raw: Buffer): { scope: ExpressionScope; rest: string } => {
  let at = 0;
  const next = (bytes: number): string => raw.toString('utf8', at, (at += bytes));
  const steps: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [namespace, bytes] of head.steps) steps[namespace] = next(bytes);
  const scope: ExpressionScope = {
    steps,
    env: next(head.env),
    ...(head.item === null ? {} : { item: next(head.item) }),
    ...(head.index === null ? {} : { index: head.index }),
  };
  return { scope, rest: raw.toString('utf8', at) };
};

/** Checks an answer, which is hostile input because the process runs code of authors. Throws ProtocolBreach. */
export const readAnswer = (record: RawRecord): { readonly answer: Answer; readonly text: string } => {
  const answer = jsonOf(record.json);
  const text = textOf(record.raw);
  if (!isAnswer(answer)) throw new ProtocolBreach('a process of expressions sent an answer of no known form');
  const hasText = answer[0] === 'value' || answer[0] === 'document';
  if (record.raw.length > 0 && (!hasText || record.raw.length > MAX_VALUE_BYTES))
    throw new ProtocolBreach(`a process of expressions sent ${record.raw.length} bytes with an answer ${answer[0]}`);
  if (text !== '' && !isPlainJson(text)) throw new ProtocolBreach('a process of expressions sent no JSON as a value');
  return { answer, text };
};

const MAX_HEAD = 64 * 1024;

const jsonOf = (json: Buffer): unknown => {
  if (json.length > MAX_HEAD) throw new ProtocolBreach(`a process of expressions sent a head of ${json.length} bytes`);
  try {
    return JSON.parse(textOf(json)) as unknown;
  } catch (error) {
    if (error instanceof ProtocolBreach) throw error;
    throw new ProtocolBreach('a process of expressions sent a head that is no JSON');
  }
};

const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0 && Number.isFinite(value);
const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= MAX_MESSAGE;
const isListOf = (value: unknown, isEach: (each: readonly unknown[]) => boolean): boolean =>
  Array.isArray(value) &&
  value.length <= MAX_FAULTS &&
  value.every((each: unknown) => Array.isArray(each) && isEach(each as readonly unknown[]));
const isSyntaxFault = ([index, message, at, ...more]: readonly unknown[]): boolean =>
  isCount(index) && isText(message) && isCount(at) && more.length === 0;
const isPlace = ([line, column, ...more]: readonly unknown[]): boolean =>
  isCount(line) && isCount(column) && more.length === 0;
const isYamlFault = ([code, message, ...place]: readonly unknown[]): boolean =>
  YAML_FAULT_CODES.some((each) => each === code) && isText(message) && isPlace(place);

const isAnswer = (value: unknown): value is Answer => {
  if (!Array.isArray(value)) return false;
  const [kind, second, third, fourth, ...more] = value as unknown[];
  if (more.length > 0) return false;
  switch (kind) {
    case 'value':
      return value.length === 2 && isCount(second);
    case 'failed':
      return isCount(second) && FAILURE_NAMES.some((name) => name === third) && isText(fourth);
    case 'parsed':
      return value.length === 2 && isListOf(second, isSyntaxFault);
    case 'document':
    case 'too_large':
      return value.length === 1;
    case 'faults':
      return value.length === 2 && isListOf(second, isYamlFault);
    case 'places':
      return value.length === 2 && isListOf(second, isPlace);
    default:
      return false;
  }
};
