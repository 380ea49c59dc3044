import {
  type ComponentCall,
  NO_OPTIONS_METHOD,
  NO_SUCH_PROP,
  type OptionsAnswer,
} from '#libs/component-model/component-call.js';
import { dynamicDefinitions } from './additional-props.js';
import { appObject, type BoundComponent, isMethod, isObject, type Self } from './component.js';
import { type Execution } from './execution.js';
import { definitionIn } from './definition-in.js';
import { type Definition, type Link, linksOf } from './prop-definition.js';
import { isRecord, kindOfValue } from './words.js';

type OptionsCall = Extract<ComponentCall, { readonly kind: 'options' }>;

const refused = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/** Calls the options of a prop (docs/reference/component-model.md#async-options). */
export const askOptions = async (
  component: BoundComponent,
  execution: Execution,
  call: OptionsCall,
): Promise<OptionsAnswer> => {
  const { prop, page, prevContext, query } = call;
  const links = linksOf(prop, await definitionOf(component, execution, prop));
  const at = links.findIndex(({ own }) => own.options !== undefined && own.options !== null);
  const link = links[at];
  const options = link?.own.options;
  if (link === undefined || !isMethod(options))
    throw refused(NO_OPTIONS_METHOD, `prop ${prop} has no options method, so there is nothing to call`);
  const self = component.thisOf(execution);
  const values = valuesOf(links.slice(0, at + 1), component.configuredIn(self));
  const asked = { page, prevContext: prevContext ?? {}, ...(query === undefined ? {} : { query }), ...values };
  const owner = link.app === undefined ? self : ownerOf(link.app, component, self);
  return answerOf(prop, await options.call(owner, asked));
};

/** A prop of additionalProps has its functions only in what that method returns, so it is called again. */
export const definitionOf = async (component: BoundComponent, execution: Execution, prop: string): Promise<unknown> => {
  const { props } = component.component;
  const own = isObject(props) && Object.hasOwn(props, prop) ? props[prop] : undefined;
  const isDynamic = component.dynamicProps.some(({ name }) => name === prop);
  const found = isDynamic ? (await dynamicDefinitions(component, execution)).get(prop) : own;
  if (found !== undefined) return found;
  throw refused(NO_SUCH_PROP, `the component has no prop ${prop}`);
};

/** Values of the references on the way to the definition with the options. One nearer to the prop wins. */
const valuesOf = (links: readonly Link[], configured: Self): Definition => {
  let values: Definition = {};
  for (const { values: given } of links) {
    const more: unknown = isMethod(given) ? given.call(undefined, { ...configured, ...values }) : given;
    if (isObject(more)) values = { ...more, ...values };
  }
  return values;
};

/** The bound app of the component whose definition this is, else one without an account. */
const ownerOf = (app: Definition, component: BoundComponent, self: Self): Self => {
  const { props } = component.component;
  for (const [name, definition] of Object.entries(isObject(props) ? props : {})) {
    const own = definitionIn(definition);
    const isApp = own === app || (own?.type === 'app' && own.app !== undefined && own.app === app.app);
    if (isApp && isObject(self[name])) return self[name];
  }
  return appObject(app, {});
};

const answerOf = (prop: string, returned: unknown): OptionsAnswer => {
  if (returned === undefined || returned === null) return { options: [] };
  if (Array.isArray(returned)) return { options: returned.map((option) => optionOf(prop, option)) };
  if (isRecord(returned) && Array.isArray(returned.options)) {
    const options = returned.options.map((option) => optionOf(prop, option));
    return returned.context === undefined ? { options } : { options, context: returned.context };
  }
  const found = kindOfValue(returned);
  throw new TypeError(`options of prop ${prop} must return a list, or an object {options, context}, not ${found}`);
};

const keysIn = (option: object): string => {
  const keys = Object.keys(option);
  return keys.length === 0 ? '(none)' : keys.slice(0, 5).join(', ').slice(0, 200);
};

const optionOf = (prop: string, option: unknown): unknown => {
  if (typeof option === 'string' || typeof option === 'number' || typeof option === 'boolean') return option;
  if (!isRecord(option) || !('value' in option)) {
    const expected = 'a text, a number, or an object {label, value}';
    const found = isRecord(option) ? `an object with the keys ${keysIn(option)}` : kindOfValue(option);
    throw new TypeError(`an option of prop ${prop} must be ${expected}, not ${found}`);
  }
  const value = option.value ?? null;
  const label = option.label ?? value;
  return { label: typeof label === 'string' ? label : (JSON.stringify(label) ?? ''), value };
};
