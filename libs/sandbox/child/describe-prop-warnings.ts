import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { InvalidComponent } from './invalid-component.js';
import { FLAGS, NUMBERS, TEXTS } from './prop-keys.js';
import { type Warnings } from './component-warnings.js';
import { isRecord, kindOfValue, shown, Words } from './words.js';

export const PROP_KEYS = new Words(
  'a key of a prop',
  [
    'type',
    'label',
    'description',
    'optional',
    'default',
    'options',
    'min',
    'max',
    'secret',
    'propDefinition',
    'customResponse',
    'static',
    'app',
    ...FLAGS.filter((key) => !['optional', 'secret', 'customResponse'].includes(key)),
    ...TEXTS.filter((key) => !['label', 'description'].includes(key)),
    'eventNames',
  ],
  // Keys of imported apps, and of the hosted service.
  ['propDefinitions', 'methods', 'format', 'name'],
);
export const OPTION_KEYS = new Words('a key of an option', ['label', 'value']);
const TIMER_KEYS = new Words(
  'a key of a timer',
  ['intervalSeconds', 'cron', 'timezone'],
  ['interval_seconds', 'type', 'default', 'static'],
);
const ALERT_TYPES = new Words('a type of alert', ['info', 'neutral', 'warning', 'error']);

/** Warns of probable mistakes in a prop's definition. Throws InvalidComponent when no value could ever be valid. */
export const warnOfProp = (prop: ConfigurableProp, definition: Record<string, unknown>, warnings: Warnings): void => {
  const tell: Tell = (code, key, text) =>
    warnings.add(code, `props.${prop.name}.${key}`, `prop ${shown(prop.name)}: ${text}`);
  // An imported app has keys of its own.
  if (prop.type !== 'app' || (definition.propDefinitions === undefined && definition.methods === undefined))
    checkKeys(definition, tell);
  if (prop.secret === true && prop.type !== 'string')
    tell('ignored_key', 'secret', `secret is for type string, not ${prop.type}; the value is not kept secret`);
  checkTimer(prop, tell);
  checkAlert(prop, tell);
  checkRange(prop, tell);
  checkDefault(prop, tell);
};

type Tell = (code: string, key: string, text: string) => void;

const checkKeys = (definition: Record<string, unknown>, tell: Tell): void => {
  for (const key of Object.keys(definition)) {
    const meant = PROP_KEYS.meantBy(key);
    if (meant !== undefined) tell('misspelt_key', key, `${PROP_KEYS.explain(key, meant)}; it is ignored`);
  }
  const mustBe = (keys: readonly string[], type: string, kind: string): void => {
    for (const key of keys) {
      const value = definition[key];
      if (value === undefined || value === null || typeof value === type) continue;
      tell('wrong_kind', key, `${key} must be ${kind}, not ${kindOfValue(value)}: it is ignored`);
    }
  };
  mustBe(TEXTS, 'string', 'a text');
  mustBe(FLAGS, 'boolean', 'true or false');
  mustBe(NUMBERS, 'number', 'a number');
  for (const key of ['default', 'static'])
    if (typeof definition[key] === 'function')
      tell('wrong_kind', key, `${key} must be a value, not a function: it is ignored`);
  if (definition.required !== undefined && (definition.required === true || definition.optional === undefined))
    tell(
      'unknown_key',
      'required',
      '"required" is not a key of a prop: a prop is required unless it has optional: true',
    );
  for (const option of Array.isArray(definition.options) ? (definition.options as unknown[]) : []) {
    const slip =
      isRecord(option) && option.label === undefined ? OPTION_KEYS.slipOf('label', Object.keys(option)) : undefined;
    if (slip !== undefined) return tell('misspelt_key', 'options', `${slip}; the value is shown instead`);
  }
};

/**
 * A misspelt default is reported again when a source is deployed without a value. A misspelt `static` can never work.
 */
const checkTimer = (prop: ConfigurableProp, tell: Tell): void => {
  if (prop.type !== '$.interface.timer') return;
  for (const key of ['static', 'default'] as const) {
    const timer = prop[key];
    if (!isRecord(timer)) continue;
    for (const word of Object.keys(timer)) {
      const meant = TIMER_KEYS.meantBy(word);
      if (meant === undefined) continue;
      const text = TIMER_KEYS.explain(word, meant);
      const hasTime = ['cron', 'intervalSeconds', 'interval_seconds'].some((each) => each in timer);
      if (key === 'static' && !hasTime) throw invalid(prop, `static has no time: ${text}`);
      tell('misspelt_key', `${key}.${word}`, `${text}; it is ignored`);
    }
  }
};

const checkAlert = ({ type, alertType }: ConfigurableProp, tell: Tell): void => {
  if (type !== 'alert' || alertType === undefined) return;
  const meant = ALERT_TYPES.meantBy(alertType);
  if (meant !== undefined) tell('misspelt_value', 'alertType', ALERT_TYPES.explain(alertType, meant));
};

/** Props that need no value (docs/reference/component-model.md#prop-required). */
const isRequired = ({ optional, hidden, disabled }: ConfigurableProp): boolean =>
  optional !== true && hidden !== true && disabled !== true;

const checkRange = (prop: ConfigurableProp, tell: Tell): void => {
  const { type, min, max } = prop;
  const counts = type === 'integer' || type === 'integer[]';
  for (const key of NUMBERS)
    if (prop[key] !== undefined && !counts)
      tell('ignored_key', key, `${key} is for type integer, not ${type}; it is ignored`);
  if (!counts || min === undefined || max === undefined || min <= max) return;
  const text = `min is ${min} and max is ${max}, so no value is allowed`;
  if (type === 'integer' && isRequired(prop)) throw invalid(prop, `${text}: make min at most max`);
  tell('empty_range', 'min', `${text}: make min at most max`);
};

const checkDefault = (prop: ConfigurableProp, tell: Tell): void => {
  if (prop.default === undefined || prop.default === null) return;
  const items: readonly unknown[] =
    prop.type.endsWith('[]') && Array.isArray(prop.default) ? prop.default : [prop.default];
  for (const item of items) {
    const wrong = wrongIn(prop, item);
    if (wrong !== undefined) return tell('wrong_default', 'default', `the default ${textOf(item)} ${wrong}`);
  }
};

/** Fault of one item of a default. The checks of libs/sources/domain/prop-value.ts decide at deployment. */
const wrongIn = ({ type, min, max, options }: ConfigurableProp, item: unknown): string | undefined => {
  if (type.startsWith('integer')) {
    const number = typeof item === 'string' && /^\s*[+-]?\d+\s*$/.test(item) ? Number(item) : item;
    if (!Number.isSafeInteger(number)) return 'is not an integer: a source without a value is refused';
    if (min !== undefined && (number as number) < min)
      return `is below min ${min}: a source without a value is refused`;
    if (max !== undefined && (number as number) > max)
      return `is above max ${max}: a source without a value is refused`;
  }
  if (type.startsWith('boolean') && typeof item !== 'boolean' && item !== 'true' && item !== 'false')
    return 'is not true or false: a source without a value is refused';
  if (type.startsWith('string') && typeof item === 'object')
    return 'is not a text: a source without a value is refused';
  if (options === undefined || options.length === 0) return undefined;
  const values = options.map((option) => (isRecord(option) ? option.value : option));
  if (values.some((value) => textOf(value) === textOf(item) || String(value) === item)) return undefined;
  return `is not among the options: ${cut(values.map(textOf).join(', '), 200)}`;
};

const textOf = (value: unknown): string => cut(JSON.stringify(value) ?? typeof value, 80);
const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`);

const invalid = (prop: ConfigurableProp, message: string): InvalidComponent =>
  new InvalidComponent(`prop "${prop.name}": ${message}`, prop.name);
