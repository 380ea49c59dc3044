import { APP_EVENT_LIMITS } from './app-event-limits.js';
import { type ComponentMetadata, type ConfigurableProp } from './component-metadata.js';
import { type HookName } from './hooks.js';
import { WARNING_LIMITS } from './warning-limits.js';

/**
 * Type and limit of a field of metadata. Texts and JSON count in UTF-8 bytes. The metadata of a component is parsed,
 * kept, listed and read at each start, so every field has a limit: a user writes all of them.
 */
export type FieldRule = { readonly isNullable?: true } & (
  | { readonly kind: 'flag' | 'number' }
  | { readonly kind: 'word'; readonly words: readonly string[] }
  | { readonly kind: 'text'; readonly max: number }
  /** Any JSON, or with `object` an object. */
  | { readonly kind: 'json' | 'object'; readonly max: number }
  | { readonly kind: 'list'; readonly max: number; readonly of: FieldRule }
  /** Their own fields have rules: PROP_FIELDS, WARNING_LIMITS. */
  | { readonly kind: 'list'; readonly max: number; readonly of: 'props' | 'warnings' }
);

/** See docs/reference/limits.md#metadata-texts. */
export const METADATA_LIMITS = {
  /** Name, key and version each, and the annotations as JSON. */
  text: 1_024,
  description: 16 * 1_024,
  props: 1_000,
  methods: 1_000,
  /** Name of a prop or a method. */
  propName: 256,
  /** Each text of a prop, except description and content, which have the limit of a description. */
  propText: 1_024,
  /** As JSON. */
  default: 64 * 1_024,
  static: 1_024,
  options: 10_000,
  option: 4 * 1_024,
  /** All metadata as JSON. */
  total: 512 * 1_024,
} as const;

const flag: FieldRule = { kind: 'flag' };
const number: FieldRule = { kind: 'number' };
const text = (max: number): FieldRule => ({ kind: 'text', max });
const propText = text(METADATA_LIMITS.propText);
const long = text(METADATA_LIMITS.description);

export const PROP_FIELDS: Readonly<Record<keyof ConfigurableProp, FieldRule>> = {
  name: text(METADATA_LIMITS.propName),
  type: propText,
  label: propText,
  description: long,
  optional: flag,
  default: { kind: 'json', max: METADATA_LIMITS.default },
  options: { kind: 'list', max: METADATA_LIMITS.options, of: { kind: 'json', max: METADATA_LIMITS.option } },
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
  static: { kind: 'json', max: METADATA_LIMITS.static },
  customResponse: flag,
  app: propText,
  appProp: propText,
  eventNames: { kind: 'list', max: APP_EVENT_LIMITS.names, of: propText },
  remote: flag,
  alertType: propText,
  content: long,
  accessMode: propText,
  sync: flag,
};

const HOOKS: readonly HookName[] = ['deploy', 'activate', 'deactivate'];

export const METADATA_FIELDS: Readonly<Record<keyof ComponentMetadata, FieldRule>> = {
  kind: { kind: 'word', words: ['source', 'action', 'app'] },
  name: text(METADATA_LIMITS.text),
  key: { kind: 'text', max: METADATA_LIMITS.text, isNullable: true },
  version: text(METADATA_LIMITS.text),
  description: { kind: 'text', max: METADATA_LIMITS.description, isNullable: true },
  annotations: { kind: 'object', max: METADATA_LIMITS.text, isNullable: true },
  dedupe: { kind: 'word', words: ['unique', 'greatest', 'last'], isNullable: true },
  hooks: { kind: 'list', max: HOOKS.length, of: { kind: 'word', words: HOOKS } },
  hasRun: flag,
  hasAdditionalProps: flag,
  methods: { kind: 'list', max: METADATA_LIMITS.methods, of: text(METADATA_LIMITS.propName) },
  configurableProps: { kind: 'list', max: METADATA_LIMITS.props, of: 'props' },
  warnings: { kind: 'list', max: WARNING_LIMITS.count, of: 'warnings' },
};
