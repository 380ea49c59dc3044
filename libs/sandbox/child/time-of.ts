import { isTime } from '../protocol/run-names.js';

/**
 * Epoch milliseconds of a number, a numeric text, a Date or an object that stands for a number (as those of time
 * libraries do). Undefined for anything else. `Number` alone reads 0 from '', ' ', [] and false. Never throws.
 */
export const timeOf = (value: unknown): number | undefined => {
  const ms = numberOf(value);
  return isTime(ms) ? ms : undefined;
};

const numberOf = (value: unknown): number | undefined => {
  switch (typeof value) {
    case 'number':
      return value;
    case 'bigint':
      return Number(value);
    case 'string':
      return value.trim() === '' ? undefined : Number(value);
    case 'object':
      return value === null || Array.isArray(value) ? undefined : numberFor(value);
    default:
      return undefined;
  }
};

const numberFor = (value: object): number | undefined => {
  try {
    const primitive: unknown = value.valueOf();
    return typeof primitive === 'object' ? undefined : numberOf(primitive);
  } catch {
    return undefined;
  }
};
