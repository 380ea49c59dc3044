import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { InvalidComponent } from './invalid-component.js';
import { OPTION_KEYS, PROP_KEYS, warnOfProp } from './describe-prop-warnings.js';
import { type Definition, resolveProp } from './prop-definition.js';
import { FLAGS, NUMBERS, TEXTS } from './prop-keys.js';
import { type Warnings } from './component-warnings.js';
import { isRecord, kindOfValue, meantText, shown, Words } from './words.js';

type Kind = 'source' | 'action';

// The types of props. libs/sources/domain/props.ts and prop-value.ts decide what each does with a configured value.
/** Types with an array form. */
const WITH_ARRAY: ReadonlySet<string> = new Set(['boolean', 'integer', 'string', '$.discord.channel']);
/** Types without an array form, in sources and actions. */
const SINGLE: ReadonlySet<string> = new Set([
  'object',
  'app',
  'alert',
  'any',
  'data_store',
  'http_request',
  'dir',
  'sql',
]);
/** Types that an action may not have. */
const SOURCE_ONLY: ReadonlySet<string> = new Set(['$.interface.http', '$.interface.timer', '$.interface.apphook']);
const DB = '$.service.db';

const TYPES = new Words('a type of prop', [
  ...[...WITH_ARRAY].flatMap((type) => [type, `${type}[]`]),
  ...SINGLE,
  ...SOURCE_ONLY,
  DB,
]);

const invalid = (prop: string, message: string): never => {
  throw new InvalidComponent(`prop "${prop}": ${message}`, prop);
};

const unsupported = (prop: string, what: string, more = ''): never => {
  throw new InvalidComponent(`${what} not supported for prop ${prop}${more}`, prop);
};

const plain = (prop: string, key: string, value: unknown): unknown => {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    return invalid(prop, `${key} cannot be written as JSON: ${String(error)}`);
  }
};

const cut = (type: string): string => (type.length <= 80 ? type : `${type.slice(0, 80)}…`);

const typeOf = (prop: string, { type, ...others }: Definition, kind: Kind, warnings: Warnings): string => {
  if (type !== undefined && type !== null && typeof type !== 'string')
    return invalid(prop, `type must be a text, not ${kindOfValue(type)}; ${TYPES.allowed()}`);
  if (typeof type !== 'string' || type === '') {
    const keys = Object.keys(others);
    const slip = PROP_KEYS.slipOf('type', keys) ?? PROP_KEYS.slipOf('propDefinition', keys);
    return invalid(prop, `type is missing: ${slip ?? TYPES.allowed()}`);
  }
  const isArray = type.endsWith('[]');
  const base = isArray ? type.slice(0, -2) : type;
  const isService = base.startsWith('$.airtable.');
  if (WITH_ARRAY.has(base) || isService) return type;
  if (SINGLE.has(base) || SOURCE_ONLY.has(base) || base === DB) {
    if (isArray) return unsupported(prop, type, `; write ${base}, which has no array form`);
    if (SOURCE_ONLY.has(base) && kind === 'action') return unsupported(prop, `in an action, ${type} is`);
    return type;
  }
  const meant = TYPES.meantBy(type);
  if (base.startsWith('$'))
    throw new InvalidComponent(
      `${cut(type)} not supported for prop ${prop}${meantText(meant)}; ${TYPES.allowed()}`,
      prop,
    );
  warnings.add(
    'unknown_prop_type',
    `props.${prop}.type`,
    `prop ${shown(prop)}: type ${shown(type)} is unknown and treated as any${meantText(meant)}; ${TYPES.allowed()}`,
  );
  return 'any';
};

/** Entry of `configurable_props` for one prop. Throws InvalidComponent naming the prop. */
export const describeProp = (name: string, definition: unknown, kind: Kind, warnings: Warnings): ConfigurableProp => {
  const resolved = resolveProp(name, definition);
  const type = typeOf(name, resolved, kind, warnings);
  const out: Record<string, unknown> = { name, type };
  for (const key of TEXTS) if (typeof resolved[key] === 'string') out[key] = resolved[key];
  for (const key of FLAGS) if (typeof resolved[key] === 'boolean') out[key] = resolved[key];
  for (const key of NUMBERS)
    if (typeof resolved[key] === 'number' && Number.isFinite(resolved[key])) out[key] = resolved[key];
  for (const key of ['default', 'static'] as const) {
    const value = plain(name, key, resolved[key]);
    if (value !== undefined) out[key] = value;
  }
  addOptions(name, resolved.options, out);
  addSpecial(name, type, resolved, out);
  // Each key was checked above.
  const prop = out as object as ConfigurableProp;
  warnOfProp(prop, resolved, warnings);
  return prop;
};

const addOptions = (name: string, options: unknown, out: Record<string, unknown>): void => {
  if (options === undefined || options === null) return;
  if (typeof options === 'function') {
    out.remoteOptions = true;
    return;
  }
  if (!Array.isArray(options)) {
    invalid(name, `options of type ${kindOfValue(options)} not supported for prop ${name}: write a list or a function`);
    return;
  }
  out.options = options.map((option: unknown) => {
    if (typeof option === 'string' || typeof option === 'number' || typeof option === 'boolean') return option;
    if (!isRecord(option) || !('value' in option)) {
      const slip = isRecord(option) ? OPTION_KEYS.slipOf('value', Object.keys(option)) : undefined;
      const why = slip === undefined ? `, not ${kindOfValue(option)}` : `: ${slip}`;
      return invalid(name, `an option must be a text, a number, a boolean, or an object {label, value}${why}`);
    }
    // A value without JSON, such as undefined, must still be present for readers of the option.
    const value = plain(name, 'options', option.value) ?? null;
    const label: unknown = option.label ?? value;
    return { label: typeof label === 'string' ? label : JSON.stringify(label), value };
  });
};

const addSpecial = (name: string, type: string, resolved: Definition, out: Record<string, unknown>): void => {
  if (type === 'app') {
    if (typeof resolved.app !== 'string' || resolved.app === '') {
      const slip = PROP_KEYS.slipOf('app', Object.keys(resolved));
      invalid(name, `app is missing: the slug of the app${slip === undefined ? '' : `; ${slip}`}`);
    }
    out.app = resolved.app;
    // The app's own `default` does not belong to the prop.
    if (resolved.propDefinitions !== undefined || resolved.methods !== undefined) delete out.default;
  }
  if (type === 'alert') out.alertType ??= 'info';
  if (type === '$.interface.apphook' && Array.isArray(resolved.eventNames))
    out.eventNames = resolved.eventNames.filter((event) => typeof event === 'string');
};
