import { DomainError } from '#libs/kernel/domain-error.js';

/** Error for a configured prop that its definition does not allow. `expected` is a type or a limit, in words. */
export const invalidProp = (prop: string, expected: string, actual: string | number, limit?: number): DomainError =>
  new DomainError('source.invalid_prop', `prop ${prop} must be ${expected}; got ${actual}`, {
    prop,
    expected,
    ...(limit === undefined ? {} : { limit }),
    actual,
  });

/** `misspelt` is the key of configured_props that probably stands for the prop, and `allowed` a sentence on the props. */
export const missingProp = (prop: string, type: string, misspelt?: string, allowed = ''): DomainError =>
  new DomainError(
    'source.missing_prop',
    misspelt === undefined
      ? `prop ${prop} (${type}) is required: give it in configured_props`
      : `prop ${prop} (${type}) is missing in configured_props; did you mean it by ${misspelt}? ${allowed}`,
    { prop, expected: type, actual: misspelt ?? 'none' },
  );

/** A timer is mostly missing because its author declared no time, so the text shows one. */
export const missingTimer = (prop: string, type: string): DomainError =>
  new DomainError(
    'source.missing_prop',
    `prop ${prop} (${type}) has no time: give {"intervalSeconds": 900} or {"cron": "0 9 * * *"} in configured_props, or as the default of the prop`,
    { prop, expected: type, actual: 'none' },
  );

/** Shortens a value for an error text. */
export const shown = (value: unknown): string => {
  if (value === undefined) return 'none';
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? typeof value);
  return text.length > 100 ? `${text.slice(0, 100)}… (${text.length} characters)` : text;
};

/** Shows a prop's value in an error text. A secret shows only its kind. */
export const toldOf = (prop: { readonly secret?: boolean }, value: unknown): string => {
  if (prop.secret !== true) return shown(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return `a ${value === null ? 'null' : typeof value} (its value is secret)`;
};
