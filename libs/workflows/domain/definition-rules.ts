import { type JsonObject } from './check-shape.js';
import { MAX_FILES_BYTES, MAX_STEPS, SCHEMAS } from './definition-shape.js';
import { type Findings, type Path } from './findings.js';
import { inputFaults } from './tool-input.js';
import { isWrongVariable, variableOfToken } from './token-variable.js';
import { readUses } from './uses.js';

/** True under the schema of imported files, whose references into another installation are only warnings. */
export const isImport = (definition: JsonObject): boolean => definition['schema'] !== SCHEMAS[1];

export interface KnownHere {
  /** Whether a source with this id exists in the workspace. */
  readonly isSource: (id: string) => boolean;
  /** Whether the workspace has a variable of this name. */
  readonly isVariable: (name: string) => boolean;
  /** Whether a step of the version in force has this `uses`. */
  readonly isPinned: (uses: string) => boolean;
}

/**
 * Checks what several values of a definition say together. The definition may break the rules of its shape, which
 * `checkShape` reports.
 */
export const checkRules = (definition: JsonObject, known: KnownHere, found: Findings): void => {
  if (!has(definition, 'name') && !has(definition, 'external_id'))
    found.error(['name'], 'required', 'name is required when there is no external_id');
  const triggers = triggersOf(definition);
  checkUnique(triggers, 'triggers', 'name', found);
  for (const [i, trigger] of triggers) {
    checkTrigger(trigger, ['triggers', i], known, found);
    checkTriggerId(trigger, ['triggers', i], { isImport: isImport(definition), isSource: known.isSource }, found);
  }
  const steps = stepsOf(definition);
  checkUnique(steps, 'steps', 'namespace', found);
  const files = objectIn(definition, 'files');
  for (const [i, step] of steps) {
    checkStep(step, ['steps', i], { ...known, files }, found);
    checkOnError(step, i, steps, found);
  }
  checkFiles(files, found);
};

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textIn = (value: JsonObject, key: string): string | undefined => {
  const given = Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof given === 'string' ? given : undefined;
};

export const objectIn = (value: JsonObject, key: string): JsonObject => {
  const given = Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(given) ? given : {};
};

const MAX_TRIGGERS = 20;

/** An element of a list, with its index. */
export type Indexed = readonly [index: number, value: JsonObject];

/** Leaves out elements that are no object, which `checkShape` reports. */
const objectsIn = (definition: JsonObject, key: string, most: number): readonly Indexed[] => {
  const list = definition[key];
  if (!Array.isArray(list)) return [];
  return list.slice(0, most).flatMap((each: unknown, i): Indexed[] => (isObject(each) ? [[i, each]] : []));
};
export const triggersOf = (definition: JsonObject): readonly Indexed[] =>
  objectsIn(definition, 'triggers', MAX_TRIGGERS);
export const stepsOf = (definition: JsonObject): readonly Indexed[] => objectsIn(definition, 'steps', MAX_STEPS);

const has = (value: JsonObject, key: string): boolean =>
  Object.hasOwn(value, key) && value[key] !== undefined && value[key] !== null;

const checkUnique = (list: readonly Indexed[], where: string, key: string, found: Findings): void => {
  const first = new Map<string, number>();
  for (const [i, each] of list) {
    const name = textIn(each, key);
    if (name === undefined) continue;
    const before = first.get(name);
    if (before === undefined) first.set(name, i);
    else found.error([where, i, key], 'duplicate', `${where}[${before}] has the same ${key}`);
  }
};

const checkTrigger = (
  trigger: JsonObject,
  path: Path,
  { isVariable }: Pick<KnownHere, 'isVariable'>,
  found: Findings,
): void => {
  switch (trigger['type'] ?? (has(trigger, 'id') ? 'source' : undefined)) {
    case 'http':
      checkToken(textIn(objectIn(trigger, 'auth'), 'token') ?? '', [...path, 'auth', 'token'], isVariable, found);
      return checkHttp(trigger, path, found);
    case 'timer':
      return checkOneOf(trigger, ['cron', 'interval_seconds'], path, found);
    case 'source':
      checkOneOf(trigger, ['id', 'uses'], path, found);
      if (has(trigger, 'id') && has(trigger, 'props'))
        found.error(
          [...path, 'props'],
          'conflict',
          'props are for a source of the workflow: name its component by uses',
        );
      return;
    case 'tool': {
      const { input } = trigger;
      const faults = input === undefined || !isObject(input) ? [] : inputFaults(input);
      for (const { path: within, code, message } of faults) found.error([...path, 'input', ...within], code, message);
      return;
    }
    default:
  }
};

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const checkHttp = (trigger: JsonObject, path: Path, found: Findings): void => {
  const isStatic = trigger['response'] === 'static';
  if (has(trigger, 'static_response') !== isStatic)
    found.error(
      [...path, 'static_response'],
      isStatic ? 'required' : 'conflict',
      isStatic ? 'static_response is required by response: static' : 'static_response needs response: static',
    );
  const place = [...path, 'static_response', 'headers'];
  for (const name of Object.keys(objectIn(objectIn(trigger, 'static_response'), 'headers')))
    if (!HEADER_NAME.test(name)) found.error([...place, name], 'format', 'the key is no name of a header');
  const auth = objectIn(trigger, 'auth');
  const isBearer = auth['type'] === 'bearer';
  if (has(auth, 'token') !== isBearer)
    found.error(
      [...path, 'auth', 'token'],
      isBearer ? 'required' : 'conflict',
      isBearer ? 'token is required by type: bearer' : 'token needs type: bearer',
    );
};

const checkToken = (token: string, path: Path, isVariable: KnownHere['isVariable'], found: Findings): void => {
  if (isWrongVariable(token))
    found.error(
      path,
      'format',
      'a token that begins with {{ must be exactly {{process.env.NAME}}, with the name of a variable of the workspace',
    );
  const variable = variableOfToken(token);
  if (variable !== undefined && !isVariable(variable))
    found.warn(
      path,
      'variable_not_found',
      `the workspace has no variable ${variable}: the address refuses every request until it has`,
    );
};

/** Both are a conflict at the second; neither is missing at the first. */
const checkOneOf = (
  value: JsonObject,
  [first, second]: readonly [string, string],
  path: Path,
  found: Findings,
): void => {
  if (has(value, first) && has(value, second))
    found.error([...path, second], 'conflict', `only one of ${first} and ${second} is allowed`);
  if (!has(value, first) && !has(value, second))
    found.error([...path, first], 'required', `one of ${first} and ${second} is required`);
};

interface KnownSources {
  readonly isImport: boolean;
  readonly isSource: (id: string) => boolean;
}

const checkTriggerId = (trigger: JsonObject, path: Path, known: KnownSources, found: Findings): void => {
  const id = textIn(trigger, 'id');
  const { type } = trigger;
  if (id === undefined || (type !== undefined && type !== 'source') || known.isSource(id)) return;
  const place = [...path, 'id'];
  const shown = id.slice(0, 100);
  const prefix = /^[a-z]+_/.exec(id)?.[0];
  const isKnownPrefix = prefix !== undefined && ['hi_', 'ti_', 'ei_', 'dc_'].includes(prefix);
  if (type === 'source' || !known.isImport || !isKnownPrefix)
    return found.error(place, 'unresolved', `there is no trigger or source ${shown} in this workspace`);
  if (prefix === 'hi_')
    return found.warn(
      place,
      'imported_trigger',
      `${shown} becomes an HTTP trigger of that name, with an address of its own`,
    );
  found.warn(place, 'trigger_ignored', `${shown} does not exist here, so the trigger is left out`);
};

const checkStep = (
  step: JsonObject,
  path: Path,
  { files, isPinned }: Pick<KnownHere, 'isPinned'> & { readonly files: JsonObject },
  found: Findings,
): void => {
  checkOneOf(step, ['uses', 'code'], path, found);
  const runtime = textIn(step, 'runtime');
  if (runtime !== undefined && !runtime.startsWith('nodejs'))
    found.error([...path, 'runtime'], 'unsupported', `only runtimes that begin with nodejs run here; got ${runtime}`);
  if (has(step, 'concurrency') && !has(step, 'for_each'))
    found.error([...path, 'concurrency'], 'conflict', 'concurrency is allowed with for_each only');
  const uses = readUses(textIn(step, 'uses') ?? '');
  if (uses.kind === 'file' && !Object.hasOwn(files, uses.path) && !isPinned(`./${uses.path}`))
    found.error([...path, 'uses'], 'unresolved', unresolved(path, `./${uses.path}`, 'files has no such path'));
};

/** Text of an unresolved `uses`. Its beginning is part of the API. */
export const unresolved = (path: Path, uses: string, why: string): string => {
  const [where, i] = path;
  return `could not resolve ${where ?? ''}[${i ?? ''}].uses: ${uses.slice(0, 200)}: ${why}`;
};

const checkOnError = (step: JsonObject, i: number, steps: readonly Indexed[], found: Findings): void => {
  const handler = textIn(step, 'on_error');
  if (handler === undefined || handler === 'stop' || handler === 'continue') return;
  const [at] = steps.find(([, each]) => each['namespace'] === handler) ?? [];
  const path = ['steps', i, 'on_error'];
  if (at === undefined) found.error(path, 'unresolved', `no step has the namespace ${handler.slice(0, 64)}`);
  else if (at <= i) found.error(path, 'conflict', `${handler} is not a later step`);
};

const checkFiles = (files: JsonObject, found: Findings): void => {
  let bytes = 0;
  for (const [path, code] of Object.entries(files)) {
    if (typeof code === 'string') bytes += Buffer.byteLength(code);
    if (!isFilePath(path))
      found.error(['files', path], 'format', 'must be a relative path without .., backslash and control characters');
  }
  if (bytes > MAX_FILES_BYTES)
    found.error(['files'], 'range', `all files together must have at most ${MAX_FILES_BYTES} bytes; got ${bytes}`);
};

const isFilePath = (path: string): boolean =>
  !/[\\\x00-\x1f\x7f]/.test(path) && path.split('/').every((part) => !['', '.', '..', '__proto__'].includes(part));
