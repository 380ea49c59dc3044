import { DomainError } from '#libs/kernel/domain-error.js';
import { type JsonObject } from './check-shape.js';
import { MAX_DEFINITION_BYTES, MAX_LEVELS } from './definition-shape.js';

/** Throws workflow.too_large. The files have limits of their own. */
export const checkSize = (definition: JsonObject): void => {
  const { files: _, ...rest } = definition;
  const bytes = Buffer.byteLength(JSON.stringify(rest));
  if (bytes > MAX_DEFINITION_BYTES) throw tooLarge(bytes);
};

/** @param actual bytes, or undefined when they were not counted to the end */
export const tooLarge = (actual?: number): DomainError =>
  new DomainError(
    'workflow.too_large',
    `the definition has ${actual === undefined ? 'too many values or bytes' : `${actual} bytes`} as JSON without files, with each alias as often as it is used; the limit is ${MAX_DEFINITION_BYTES} bytes`,
    { limit: MAX_DEFINITION_BYTES, ...(actual === undefined ? {} : { actual }) },
  );

/** Walks level by level, because a recursion would exhaust the stack. */
export const nestsTooDeep = (value: unknown): boolean => {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_LEVELS) return true;
    level = level.flatMap((each) => Object.values(each).filter(isContainer));
  }
  return false;
};

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
