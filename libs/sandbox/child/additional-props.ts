import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { tooManyProps } from '#libs/component-model/prop-limits.js';
import { Warnings } from './component-warnings.js';
import { type BoundComponent, isMethod, isObject } from './component.js';
import { describeProp } from './describe-prop.js';
import { type Execution } from './execution.js';
import { InvalidComponent } from './invalid-component.js';
import { resolveProp } from './prop-definition.js';
import { isRecord, kindOfValue } from './words.js';

/** Definitions by name. A Map, because a prop may have the name of an inherited property. */
type Definitions = ReadonlyMap<string, unknown>;

/**
 * Calls additionalProps and returns every definition of the component: its own, with the changes that the method made
 * to its argument, and those that it returned (docs/reference/component-model.md#additional-props).
 */
export const dynamicDefinitions = async (component: BoundComponent, execution: Execution): Promise<Definitions> => {
  const { additionalProps } = component.component;
  const own = ownDefinitions(component);
  if (!isMethod(additionalProps)) return own;
  const known = new Map(own);
  for (const { name, ...prop } of component.dynamicProps)
    known.set(name, { ...(known.get(name) as object | undefined), ...prop });
  const argument: Record<string, unknown> = Object.fromEntries(known);
  const returned: unknown = (await additionalProps.call(component.thisOf(execution), argument)) ?? {};
  if (!isRecord(returned))
    throw new InvalidComponent(
      `additionalProps must return an object of prop definitions, not ${kindOfValue(returned)}`,
    );
  const definitions = new Map<string, unknown>();
  for (const [name, definition] of own) definitions.set(name, isObject(argument[name]) ? argument[name] : definition);
  for (const [name, definition] of Object.entries(returned)) definitions.set(name, definition);
  return definitions;
};

/** Copies of the component's own definitions, which additionalProps may change. */
const ownDefinitions = ({ component }: BoundComponent): Definitions => {
  const props = isObject(component.props) ? component.props : {};
  return new Map(Object.entries(props).map(([name, definition]) => [name, { ...resolveProp(name, definition) }]));
};

/** Entries of `configurable_props` for these definitions. Throws InvalidComponent naming the prop. */
export const describeAll = (component: BoundComponent, definitions: Definitions): readonly ConfigurableProp[] => {
  const kind = component.component.type === 'action' ? 'action' : 'source';
  const warnings = new Warnings();
  const props = [...definitions].map(([name, definition]) => describeProp(name, definition, kind, warnings));
  const fault = tooManyProps(props);
  if (!fault) return props;
  throw new InvalidComponent(
    `additionalProps: there are ${fault.count} ${fault.what}, at most ${fault.limit} are allowed; the first one over the limit is "${fault.prop}"`,
    fault.prop,
  );
};
