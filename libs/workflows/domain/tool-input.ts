import { isJsonObject as isObject, isJsonType, JSON_TYPES } from '#libs/component-model/json-types.js';
import { type FaultCode, type Path } from './findings.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** UTF-8 bytes of the `input` of a `tool` trigger, as JSON. It is part of every list of tools. */
export const MAX_INPUT_BYTES = 64 * 1024;
/** Schemas within schemas. */
export const MAX_INPUT_LEVELS = 32;
const MAX_FAULTS = 20;

export interface InputFault {
  readonly path: Path;
  readonly code: FaultCode;
  readonly message: string;
}

/** The schema of a tool whose trigger gives none. */
export const ANY_INPUT: JsonSchema = { type: 'object' };

/**
 * What is wrong with the `input` of a `tool` trigger. Empty: clients can read it, and arguments can be checked by it. An
 * unknown keyword is kept for the model.
 */
export const inputFaults = (input: unknown): readonly InputFault[] => {
  if (!isObject(input)) return [{ path: [], code: 'type', message: 'must be a JSON Schema, as an object' }];
  const bytes = Buffer.byteLength(JSON.stringify(input));
  if (bytes > MAX_INPUT_BYTES) {
    return [{ path: [], code: 'range', message: `has ${bytes} bytes as JSON; ${MAX_INPUT_BYTES} are the limit` }];
  }
  const faults: InputFault[] = [];
  if (input['type'] !== 'object') {
    faults.push({
      path: ['type'],
      code: 'enum',
      message: 'must be "object", because the arguments of a tool are one',
    });
  }
  checkSchema(input, [], 1, faults);
  return faults.slice(0, MAX_FAULTS);
};

const checkSchema = (schema: JsonSchema, path: Path, level: number, faults: InputFault[]): void => {
  if (level > MAX_INPUT_LEVELS) {
    faults.push({
      path,
      code: 'range',
      message: `is nested too deep; ${MAX_INPUT_LEVELS} levels of schemas are the limit`,
    });
    return;
  }
  const { type } = schema;
  for (const [key, value] of Object.entries(schema)) {
    if (faults.length >= MAX_FAULTS) return;
    const at = [...path, key];
    const expected = key === 'type' && path.length === 0 && type !== 'object' ? undefined : expectedOf(key, value);
    if (expected === undefined) checkWithin(key, value, at, level, faults);
    else faults.push({ path: at, code: 'format', message: `must be ${expected}` });
  }
};

/** What a keyword must be, when it is something else. Undefined for a right one, and for one that is not known. */
const expectedOf = (key: string, value: unknown): string | undefined => {
  switch (key) {
    case 'type':
      return isTypes(value) ? undefined : `one of ${JSON_TYPES.join(', ')}, or a list of them`;
    case 'properties':
      return isObject(value) && Object.values(value).every(isObject)
        ? undefined
        : 'an object of schemas, each an object';
    case 'required':
      return isList(value) && value.every((each) => typeof each === 'string') ? undefined : 'a list of texts';
    case 'enum':
      return isList(value) && value.length > 0 ? undefined : 'a list of at least one value';
    case 'items':
    case 'additionalProperties':
      return isObject(value) || typeof value === 'boolean' ? undefined : 'a schema, true or false';
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return isList(value) && value.length > 0 && value.every(isObject) ? undefined : 'a list of at least one schema';
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return typeof value === 'number' ? undefined : 'a number';
    case 'minLength':
    case 'maxLength':
    case 'minItems':
    case 'maxItems':
      return Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : 'an integer of at least 0';
    default:
      return undefined;
  }
};

const checkWithin = (key: string, value: unknown, at: Path, level: number, faults: InputFault[]): void => {
  switch (key) {
    case 'properties':
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      for (const [name, each] of Object.entries(value as object)) {
        checkSchema(each as JsonSchema, [...at, isList(value) ? Number(name) : name], level + 1, faults);
      }
      return;
    case 'items':
    case 'additionalProperties':
      if (isObject(value)) checkSchema(value, at, level + 1, faults);
  }
};

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const isTypes = (value: unknown): boolean =>
  isList(value) ? value.length > 0 && value.every(isJsonType) : isJsonType(value);
