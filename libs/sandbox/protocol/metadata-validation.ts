import { textOf, ProtocolBreach } from '#libs/framing/records.js';
import { type ComponentMetadata, type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type FieldRule, METADATA_FIELDS, PROP_FIELDS } from '#libs/component-model/metadata-fields.js';
import { type Warning } from '#libs/kernel/warning.js';
import { WARNING_LIMITS } from '#libs/component-model/warning-limits.js';
import { wellFormedJson } from '#libs/kernel/well-formed.js';
import { isPlainJson } from '#libs/framing/json-text.js';
import { tooManyProps } from '#libs/component-model/prop-limits.js';
import { MB } from './protocol.js';

/**
 * Upper bound on entries of a list from a hostile child. Metadata comes from a process that ran the component's code.
 * Authors meet the limits of its fields later, with an explanatory error (libs/components/domain/metadata-limits.ts).
 */
const MAX_ENTRIES = 100_000;
const MAX_PROPS = 10_000;

type Check = (value: unknown) => boolean;

const record: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf =
  (check: Check, max: number): Check =>
  (value) =>
    Array.isArray(value) && value.length <= max && value.every(check);

/** Whether a value has the form that its field wants, of any size. */
const hasForm = (rule: FieldRule, value: unknown): boolean => {
  if (value === null && rule.isNullable) return true;
  switch (rule.kind) {
    case 'flag':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number';
    case 'text':
      return typeof value === 'string';
    case 'word':
      return typeof value === 'string' && rule.words.includes(value);
    case 'json':
      return true;
    case 'object':
      return record(value);
    case 'list':
      return isList(rule.of, rule.max, value);
  }
};

const isList = (of: FieldRule | 'props' | 'warnings', max: number, value: unknown): boolean => {
  if (of === 'props') return listOf(isProp, MAX_PROPS)(value);
  if (of === 'warnings') return listOf((each) => hasExactly(each, WARNING), max)(value);
  // Words keep their own limit here without an explanation, because only a hostile child exceeds it.
  return listOf((each) => hasForm(of, each), of.kind === 'word' ? max : MAX_ENTRIES)(value);
};

const isProp = (value: unknown): boolean =>
  record(value) &&
  typeof (value as Partial<ConfigurableProp>).name === 'string' &&
  typeof (value as Partial<ConfigurableProp>).type === 'string' &&
  Object.entries(value as object).every(
    ([key, field]) => Object.hasOwn(PROP_FIELDS, key) && hasForm(PROP_FIELDS[key as keyof ConfigurableProp], field),
  );

const textUpTo =
  (max: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= max && !value.includes('\0');

const WARNING: Readonly<Record<keyof Warning, Check>> = {
  code: (value) => typeof value === 'string' && value.length <= WARNING_LIMITS.code && /^[a-z_]+$/.test(value),
  message: textUpTo(WARNING_LIMITS.message),
  path: textUpTo(WARNING_LIMITS.path),
};

/** Whether a value is an object with these keys, and no others. */
const hasExactly = (value: unknown, checks: Readonly<Record<string, Check>>): boolean =>
  record(value) &&
  Object.keys(value as object).length === Object.keys(checks).length &&
  Object.entries(checks).every(
    ([key, check]) => Object.hasOwn(value as object, key) && check((value as Record<string, unknown>)[key]),
  );

const METADATA = Object.fromEntries(
  Object.entries(METADATA_FIELDS).map(([key, rule]): [string, Check] => [key, (value) => hasForm(rule, value)]),
);

const isMetadata = (value: unknown): value is ComponentMetadata => hasExactly(value, METADATA);

/** The props of an answer of additionalProps. Throws ProtocolBreach for anything but valid props. */
export const parseProps = (json: string): readonly ConfigurableProp[] => {
  if (json.length > 2 * MB) throw new ProtocolBreach(`props of ${json.length} characters, at most ${2 * MB}`);
  const value: unknown = wellFormedJson(JSON.parse(json));
  if (!hasExactly(value, { props: listOf(isProp, MAX_PROPS) })) throw new ProtocolBreach('malformed props');
  const { props } = value as { readonly props: readonly ConfigurableProp[] };
  const fault = tooManyProps(props);
  if (fault) throw new ProtocolBreach(`${fault.count} ${fault.what}, at most ${fault.limit}`);
  return props;
};

/** Throws ProtocolBreach for anything but valid metadata. */
export const parseMetadata = (json: Buffer): ComponentMetadata => {
  if (json.length > 2 * MB) throw new ProtocolBreach(`metadata of ${json.length} bytes, at most ${2 * MB}`);
  const source = textOf(json);
  if (!isPlainJson(source)) throw new ProtocolBreach('metadata that is no JSON');
  const value: unknown = wellFormedJson(JSON.parse(source));
  if (!isMetadata(value)) throw new ProtocolBreach('malformed metadata');
  const fault = tooManyProps(value.configurableProps);
  if (fault) throw new ProtocolBreach(`metadata with ${fault.count} ${fault.what}, at most ${fault.limit}`);
  return value;
};
