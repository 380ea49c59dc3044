import { type ComponentMetadata, type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { appHookFault } from '#libs/component-model/app-hooks.js';
import { tooManyProps } from '#libs/component-model/prop-limits.js';
import { type HookName } from '#libs/component-model/hooks.js';
import { type ComponentObject } from './component.js';
import { describeProp } from './describe-prop.js';
import { InvalidComponent } from './invalid-component.js';
import { type DescribedAs } from '../protocol/protocol.js';
import { warnOfCode } from './code-warnings.js';
import { Warnings } from './component-warnings.js';
import { isRecord, kindOfValue, meantText, shown, Words } from './words.js';

type Kind = ComponentMetadata['kind'];

/** Name of the code of a step that has none. */
const UNNAMED_STEP = 'step';

const HOOKS: readonly HookName[] = ['deploy', 'activate', 'deactivate'];

const KEYS = new Words(
  'a key of a component',
  [
    'name',
    'key',
    'version',
    'description',
    'type',
    'props',
    'methods',
    'hooks',
    'dedupe',
    'run',
    'additionalProps',
    'annotations',
  ],
  // Keys of apps, and of the hosted service.
  ['app', 'propDefinitions', 'sampleEmit', 'default'],
);
const HOOK_NAMES = new Words('a hook', HOOKS);
const DEDUPES = new Words('a dedupe strategy', ['unique', 'greatest', 'last']);
const KINDS = new Words('a type of component', ['source', 'action'], ['app']);

const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Metadata of a component (docs/reference/component-model.md#metadata-described). Throws InvalidComponent. */
export const describeComponent = (component: ComponentObject, as: DescribedAs = 'component'): ComponentMetadata => {
  const warnings = new Warnings();
  const isStep = as === 'step';
  const kind = isStep ? kindOfStep(component.type) : kindOf(component.type);
  checkKeys(component, warnings);
  if (kind === 'source') warnOfMisplacedHooks(component, warnings);
  const configurableProps = kind === 'app' ? [] : describeProps(component.props, kind, warnings);
  const methods = methodsOf(component.methods, configurableProps, warnings);
  const metadata: ComponentMetadata = {
    kind,
    name: nameOf(component, kind, isStep ? UNNAMED_STEP : undefined),
    key: textOrNull(component.key),
    version: versionOf(component.version),
    description: textOrNull(component.description),
    annotations: annotationsOf(component.annotations),
    dedupe: dedupeOf(component.dedupe, kind, warnings),
    hooks: hooksOf(component.hooks, kind, warnings),
    hasRun: hasMethod(component, 'run'),
    hasAdditionalProps: typeof component.additionalProps === 'function',
    methods,
    configurableProps,
    warnings: [],
  };
  checkRun(metadata, component);
  warnOfInterfaces(metadata, warnings);
  warnOfCode(component, isStep, warnings);
  return { ...metadata, warnings: warnings.list() };
};

/** Warns of misspelt keys and of values that count as absent. */
const checkKeys = (component: ComponentObject, warnings: Warnings): void => {
  for (const key of Object.keys(component)) {
    const meant = KEYS.meantBy(key);
    if (meant !== undefined) warnings.add('misspelt_key', key, `${KEYS.explain(key, meant)}; it is ignored`);
  }
  const ignored = (key: string, kind: string): void => {
    const actual = kindOfValue(component[key]);
    warnings.add('wrong_kind', key, `${key} must be ${kind}, not ${actual}: it is ignored`);
  };
  for (const key of ['key', 'description'])
    if (isGiven(component[key]) && typeof component[key] !== 'string') ignored(key, 'a text');
  const { version, annotations, additionalProps } = component;
  if (isGiven(version) && typeof version !== 'string' && typeof version !== 'number') ignored('version', 'a text');
  if (isGiven(annotations) && !isRecord(annotations)) ignored('annotations', 'an object');
  if (isGiven(additionalProps) && typeof additionalProps !== 'function') ignored('additionalProps', 'a function');
};

/**
 * Warns of a hook beside `run`, which looks right and is never called. A hook that is also in `hooks` is a leftover of
 * a spread.
 */
const warnOfMisplacedHooks = (component: ComponentObject, warnings: Warnings): void => {
  for (const hook of HOOKS) {
    if (typeof component[hook] !== 'function') continue;
    if (isRecord(component.hooks) && typeof component.hooks[hook] === 'function') continue;
    const text = `"${hook}" is a hook: move it into hooks: { ${hook}() { … } }; it is never called there`;
    warnings.add('misplaced_hook', hook, text);
  }
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const kindOf = (type: unknown): Kind => {
  if (type === undefined || type === null || type === '' || type === 'source') return 'source';
  if (type === 'action' || type === 'app') return type;
  const meant = typeof type === 'string' ? KINDS.meantBy(type) : undefined;
  throw new InvalidComponent(`type must be "source" or "action", not ${valueText(type)}${meantText(meant)}`);
};

/** A code step without a type is an action (docs/reference/workflows.md#code). */
const kindOfStep = (type: unknown): 'action' => {
  const kind = isGiven(type) && type !== '' ? kindOf(type) : 'action';
  if (kind === 'action') return kind;
  throw new InvalidComponent(`the code of a step must be an action, not of type ${shown(kind)}: leave type out`);
};

/** Shortens a value of the author for a message. */
const valueText = (value: unknown): string => {
  if (typeof value === 'string') return shown(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOfValue(value);
};

/**
 * Empty for a source without a name, for which the server derives one from its file.
 *
 * @param otherwise stands in for a missing name
 */
const nameOf = (component: ComponentObject, kind: Kind, otherwise?: string): string => {
  const { name } = component;
  if (isGiven(name) && typeof name !== 'string')
    throw new InvalidComponent(`name must be a text, not ${kindOfValue(name)}`);
  const found = textOrNull(name) ?? textOrNull(component.key) ?? (kind === 'source' ? null : textOrNull(component.app));
  if (found !== null) return found;
  if (otherwise !== undefined) return otherwise;
  const slip = KEYS.slipOf('name', Object.keys(component));
  if (slip !== undefined) throw new InvalidComponent(`name is missing: ${slip}`);
  if (kind === 'source') return '';
  throw new InvalidComponent(`name is missing: an ${kind} needs a name, a text that is not empty`);
};

const versionOf = (version: unknown): string => {
  if (typeof version === 'string') return version;
  return typeof version === 'number' ? String(version) : '';
};

const annotationsOf = (annotations: unknown): Readonly<Record<string, unknown>> | null => {
  if (!isRecord(annotations)) return null;
  try {
    return JSON.parse(JSON.stringify(annotations)) as Record<string, unknown>;
  } catch (error) {
    throw new InvalidComponent(`annotations cannot be written as JSON: ${String(error)}`);
  }
};

const dedupeOf = (dedupe: unknown, kind: Kind, warnings: Warnings): ComponentMetadata['dedupe'] => {
  if (dedupe === undefined || dedupe === null || dedupe === '') return null;
  if (kind !== 'source') {
    warnings.add('ignored_key', 'dedupe', `dedupe is for sources: ignored in an ${kind}`);
    return null;
  }
  if (dedupe === 'unique' || dedupe === 'greatest' || dedupe === 'last') return dedupe;
  const meant = typeof dedupe === 'string' ? DEDUPES.meantBy(dedupe) : undefined;
  throw new InvalidComponent(
    `dedupe must be "unique", "greatest" or "last", not ${valueText(dedupe)}${meantText(meant)}`,
  );
};

/** Whether the object has this method. Throws when the name has another kind of value. */
const hasMethod = (owner: Readonly<Record<string, unknown>>, name: string, path = name): boolean => {
  const value = owner[name];
  if (!isGiven(value)) return false;
  if (typeof value === 'function') return true;
  throw new InvalidComponent(`${path} must be a function, not ${kindOfValue(value)}: write ${name}() { … }`);
};

const objectOf = (value: unknown, key: string, of: string, more = ''): Readonly<Record<string, unknown>> => {
  if (!isGiven(value)) return {};
  if (isRecord(value)) return value;
  throw new InvalidComponent(`${key} must be an object of ${of}, not ${kindOfValue(value)}${more}`);
};

const hooksOf = (given: unknown, kind: Kind, warnings: Warnings): HookName[] => {
  const hooks = objectOf(given, 'hooks', 'functions', `; ${HOOK_NAMES.allowed()}`);
  if (kind !== 'source' && isGiven(given))
    warnings.add('ignored_key', 'hooks', `hooks are for sources: ignored in an ${kind}`);
  for (const name of Object.keys(hooks)) {
    if (HOOKS.some((hook) => hook === name)) continue;
    const meant = HOOK_NAMES.meantBy(name);
    if (meant !== undefined)
      warnings.add('misspelt_key', `hooks.${name}`, `${HOOK_NAMES.explain(name, meant)}; it is never called`);
    else warnings.add('unknown_hook', `hooks.${name}`, `hook ${shown(name)} is never called: ${HOOK_NAMES.allowed()}`);
  }
  return HOOKS.filter((hook) => hasMethod(hooks, hook, `hooks.${hook}`));
};

const methodsOf = (given: unknown, props: readonly ConfigurableProp[], warnings: Warnings): string[] => {
  const methods = objectOf(given, 'methods', 'functions');
  const names = Object.keys(methods).filter((name) => typeof methods[name] === 'function');
  for (const name of Object.keys(methods)) {
    const value = methods[name];
    if (typeof value === 'function' || !isGiven(value)) continue;
    const text = `methods.${name} must be a function, not ${kindOfValue(value)}: this.${name} is that value, and this.${name}() throws`;
    warnings.add('wrong_kind', `methods.${name}`, text);
  }
  const known = new Set(names);
  for (const { name } of props)
    if (known.has(name))
      warnings.add('prop_hides_method', `props.${name}`, `"${name}" is a prop and a method: this.${name} is the prop`);
  return names;
};

const describeProps = (props: unknown, kind: 'source' | 'action', warnings: Warnings): ConfigurableProp[] => {
  const definitions = objectOf(props, 'props', 'prop definitions');
  const described = Object.entries(definitions).map(([name, definition]) =>
    describeProp(name, definition, kind, warnings),
  );
  const fault = tooManyProps(described);
  if (fault)
    throw new InvalidComponent(
      `there are ${fault.count} ${fault.what}, at most ${fault.limit} are allowed; the first one over the limit is "${fault.prop}"`,
      fault.prop,
    );
  return described;
};

const isInterface = ({ type }: ConfigurableProp): boolean => type.startsWith('$.interface.');

const checkRun = (metadata: ComponentMetadata, component: ComponentObject): void => {
  const { kind, hasRun, hasAdditionalProps, configurableProps } = metadata;
  if (hasRun || kind === 'app') return;
  // additionalProps may return interfaces too.
  if (kind === 'source' && (hasAdditionalProps || configurableProps.some(isInterface))) return;
  const keys = Object.keys(component);
  const slips = (kind === 'action' ? ['run'] : ['run', 'props', 'additionalProps'])
    .filter((key) => !isGiven(component[key]))
    .flatMap((key) => KEYS.slipOf(key, keys) ?? []);
  const why = slips.map((slip) => `; ${slip}`).join('');
  if (kind === 'action') throw new InvalidComponent(`run is missing: an action needs the method run${why}`);
  throw new InvalidComponent(
    `run is missing, and there is no interface: a source needs the method run, or a prop of type $.interface.http or $.interface.timer whose events it passes on${why}`,
  );
};

/** Warns of a source that nothing starts automatically (docs/reference/component-model.md#no-interface). */
const warnOfInterfaces = (metadata: ComponentMetadata, warnings: Warnings): void => {
  const { kind, hasAdditionalProps, configurableProps } = metadata;
  if (kind !== 'source') return;
  for (const hook of hasAdditionalProps ? [] : configurableProps) {
    const fault = appHookFault(hook, configurableProps);
    if (fault !== undefined) warnings.add('silent_interface', `props.${hook.name}`, fault);
  }
  if (!metadata.hasRun) warnOfTicks(configurableProps, warnings);
  if (hasAdditionalProps || configurableProps.some(isInterface)) return;
  warnings.add(
    'no_interface',
    'props',
    'no prop is an interface: run gets only the events of sources that this source listens to, and those of POST /v1/sources/{id}/run; add a prop of type $.interface.http for requests, or $.interface.timer for a schedule',
  );
};

/** Warns of a timer without `run`, whose ticks would be emitted as they are and have nothing but a time. */
const warnOfTicks = (props: readonly ConfigurableProp[], warnings: Warnings): void => {
  const timer = props.find(({ type }) => type === '$.interface.timer');
  if (timer)
    warnings.add(
      'timer_without_run',
      `props.${timer.name}`,
      'there is no run, so each tick is emitted as it is: add run() with what the schedule is for',
    );
};
