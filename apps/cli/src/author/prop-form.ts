import { type CommandFailure, wrongUsage } from './failure.js';
import { type Fields, fieldText } from './json.js';

/** Types of props that take no value, or that nobody must give one. */
const WITHOUT_VALUE: ReadonlySet<string> = new Set([
  '$.interface.http',
  '$.interface.apphook',
  '$.service.db',
  'alert',
  'dir',
]);

/** Whether a prop takes a value of the person who deploys. */
export const takesValue = (prop: Fields): boolean =>
  !WITHOUT_VALUE.has(fieldText(prop, 'type')) &&
  prop['hidden'] !== true &&
  prop['disabled'] !== true &&
  isAbsent(prop['static']);

/** Whether a deployment is refused without a value of the prop (docs/reference/component-model.md#prop-required). */
const isRequired = (prop: Fields): boolean =>
  takesValue(prop) && prop['optional'] !== true && prop['type'] !== 'app' && isAbsent(prop['default']);

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** Whether the prop is required, and has no given or stored value. */
export const isMissing = (prop: Fields, given: Fields, stored: Fields): boolean => {
  const name = fieldText(prop, 'name');
  // Null removes what is stored.
  const value = Object.hasOwn(given, name) ? given[name] : Object.hasOwn(stored, name) ? stored[name] : undefined;
  return isRequired(prop) && isAbsent(value);
};

/** What a person reads of a prop. */
export const labelOf = (prop: Fields): string => {
  const [description = ''] = fieldText(prop, 'description').split('\n');
  return fieldText(prop, 'label') || description || fieldText(prop, 'name');
};

/** Tells every option that is needed, where nobody can be asked. */
export const nobodyToAsk = (command: string, missing: readonly Fields[]): CommandFailure => {
  const flags = missing.map((prop) => {
    const sign = prop['type'] === '$.interface.timer' ? ':=' : '=';
    return `--prop ${fieldText(prop, 'name')}${sign}…`;
  });
  const width = Math.max(...flags.map(({ length }) => length));
  const lines = missing.map((prop, at) => {
    const flag = (flags[at] ?? '').padEnd(width);
    return `${flag}  ${labelOf(prop).slice(0, MOST_LABEL)} (${fieldText(prop, 'type')})`;
  });
  const count = missing.length === 1 ? '1 prop' : `${missing.length} props`;
  return wrongUsage(`${command} needs ${count}, and nobody can be asked here:`, lines);
};

const MOST_LABEL = 200;
