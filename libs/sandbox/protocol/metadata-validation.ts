import { textOf } from './child-message.js';
import { type ComponentMetadata, type ConfigurableProp } from '../../component-model/component-metadata.js';
import { type Warning } from '../../kernel/warning.js';
import { WARNING_LIMITS } from '../../component-model/warning-limits.js';
import { wellFormedJson } from '../../kernel/well-formed.js';
import { isPlainJson } from './json-text.js';
import { tooManyProps } from '../../component-model/prop-limits.js';
import { MB, ProtocolBreach } from './protocol.js';

/**
 * Upper bound on props from a hostile child. Metadata comes from a process that ran the component's code. Authors meet
 * lower limits, with an explanatory error (libs/components/domain/metadata-limits.ts).
 */
const MAX_PROPS = 10_000;

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
const number: Check = (value) => typeof value === 'number';
const any: Check = () => true;
const record: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check, max: number): Check =>
  (value) =>
    Array.isArray(value) && value.length <= max && value.every(check);
const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && words.includes(value);

const PROP: Readonly<Record<keyof ConfigurableProp, Check>> = {
  name: text,
  type: text,
  label: text,
  description: text,
  optional: flag,
  default: any,
  options: listOf(any, 100_000),
  min: number,
  max: number,
  secret: flag,
  disabled: flag,
  hidden: flag,
  readOnly: flag,
  remoteOptions: flag,
  useQuery: flag,
  reloadProps: flag,
  withLabel: flag,
  static: any,
  customResponse: flag,
  app: text,
  appProp: text,
  eventNames: listOf(text, 1_000),
  remote: flag,
  alertType: text,
  content: text,
  accessMode: text,
  sync: flag,
};

const isProp = (value: unknown): boolean =>
  record(value) &&
  typeof (value as Partial<ConfigurableProp>).name === 'string' &&
  typeof (value as Partial<ConfigurableProp>).type === 'string' &&
  Object.entries(value as object).every(
    ([key, field]) => Object.hasOwn(PROP, key) && PROP[key as keyof ConfigurableProp](field),
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

const METADATA: Readonly<Record<keyof ComponentMetadata, Check>> = {
  kind: oneOf('source', 'action', 'app'),
  name: text,
  key: orNull(text),
  version: text,
  description: orNull(text),
  annotations: orNull(record),
  dedupe: orNull(oneOf('unique', 'greatest', 'last')),
  hooks: listOf(oneOf('deploy', 'activate', 'deactivate'), 3),
  hasRun: flag,
  hasAdditionalProps: flag,
  methods: listOf(text, 10_000),
  configurableProps: listOf(isProp, MAX_PROPS),
  warnings: listOf((value) => hasExactly(value, WARNING), WARNING_LIMITS.count),
};

/** Whether a value is an object with these keys, and no others. */
const hasExactly = (value: unknown, checks: Readonly<Record<string, Check>>): boolean =>
  record(value) &&
  Object.keys(value as object).length === Object.keys(checks).length &&
  Object.entries(checks).every(
    ([key, check]) => Object.hasOwn(value as object, key) && check((value as Record<string, unknown>)[key]),
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
