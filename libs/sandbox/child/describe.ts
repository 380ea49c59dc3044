import { type ComponentMetadata, type ConfigurableProp } from '../../component-model/component-metadata.js';
import { tooManyProps } from '../../component-model/prop-limits.js';
import { type HookName } from '../../component-model/hooks.js';
import { type ComponentObject } from './component.js';
import { describeProp } from './describe-prop.js';
import { InvalidComponent } from './invalid-component.js';
import { Warnings } from './warnings.js';

const HOOKS: readonly HookName[] = ['deploy', 'activate', 'deactivate'];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Metadata of a component (docs/reference/component-model.md#metadata-described). Throws InvalidComponent. */
export const describeComponent = (component: ComponentObject): ComponentMetadata => {
  const warnings = new Warnings();
  const kind = kindOf(component.type);
  const configurableProps = kind === 'app' ? [] : describeProps(component.props, kind, warnings);
  const methods = isRecord(component.methods)
    ? Object.keys(component.methods).filter((name) => typeof component.methods?.[name] === 'function')
    : [];
  for (const { name } of configurableProps)
    if (methods.includes(name))
      warnings.add('prop_hides_method', `props.${name}`, `"${name}" is a prop and a method: this.${name} is the prop`);
  const metadata: ComponentMetadata = {
    kind,
    name: nameOf(component, kind),
    key: textOrNull(component.key),
    version: versionOf(component.version),
    description: textOrNull(component.description),
    annotations: annotationsOf(component.annotations),
    dedupe: dedupeOf(component.dedupe, kind, warnings),
    hooks: hooksOf(component.hooks, warnings),
    hasRun: typeof component.run === 'function',
    hasAdditionalProps: typeof component.additionalProps === 'function',
    methods,
    configurableProps,
    warnings: warnings.list(),
  };
  checkRun(metadata);
  return metadata;
};

const kindOf = (type: unknown): ComponentMetadata['kind'] => {
  if (type === undefined || type === null || type === '' || type === 'source') return 'source';
  if (type === 'action' || type === 'app') return type;
  throw new InvalidComponent(`type must be "source" or "action", not ${JSON.stringify(type) ?? typeof type}`);
};

const nameOf = (component: ComponentObject, kind: ComponentMetadata['kind']): string => {
  const name = textOrNull(component.name);
  if (name !== null) return name;
  const fallback = kind === 'source' ? null : (textOrNull(component.key) ?? textOrNull(component.app));
  if (fallback !== null) return fallback;
  throw new InvalidComponent(`name is missing: a ${kind} needs a name, a text that is not empty`);
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

const dedupeOf = (
  dedupe: unknown,
  kind: ComponentMetadata['kind'],
  warnings: Warnings,
): ComponentMetadata['dedupe'] => {
  if (dedupe === undefined || dedupe === null || dedupe === '') return null;
  if (kind !== 'source') {
    warnings.add('ignored_key', 'dedupe', `dedupe is for sources: ignored in an ${kind}`);
    return null;
  }
  if (dedupe === 'unique' || dedupe === 'greatest' || dedupe === 'last') return dedupe;
  throw new InvalidComponent(
    `dedupe must be "unique", "greatest" or "last", not ${JSON.stringify(dedupe) ?? typeof dedupe}`,
  );
};

const hooksOf = (hooks: unknown, warnings: Warnings): HookName[] => {
  if (!isRecord(hooks)) return [];
  for (const name of Object.keys(hooks))
    if (!HOOKS.some((hook) => hook === name))
      warnings.add('unknown_hook', `hooks.${name}`, `hook "${name}" is never called: there are ${HOOKS.join(', ')}`);
  return HOOKS.filter((hook) => typeof hooks[hook] === 'function');
};

const describeProps = (props: unknown, kind: 'source' | 'action', warnings: Warnings): ConfigurableProp[] => {
  if (props === undefined || props === null) return [];
  if (!isRecord(props)) throw new InvalidComponent('props must be an object of prop definitions');
  const described = Object.entries(props).map(([name, definition]) => describeProp(name, definition, kind, warnings));
  const fault = tooManyProps(described);
  if (fault)
    throw new InvalidComponent(
      `there are ${fault.count} ${fault.what}, at most ${fault.limit} are allowed; the first one over the limit is "${fault.prop}"`,
      fault.prop,
    );
  return described;
};

const checkRun = ({ kind, hasRun, hasAdditionalProps, configurableProps }: ComponentMetadata): void => {
  if (hasRun || kind === 'app') return;
  if (kind === 'action') throw new InvalidComponent('run is missing: an action needs the method run');
  // additionalProps may return interfaces too.
  if (hasAdditionalProps || configurableProps.some(({ type }) => type.startsWith('$.interface.'))) return;
  throw new InvalidComponent(
    'run is missing, and there is no interface: a source needs the method run, or a prop of type $.interface.http or $.interface.timer whose events it passes on',
  );
};
