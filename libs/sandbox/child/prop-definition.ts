import { nearMiss } from '#libs/kernel/near-miss.js';
import { definitionIn } from './definition-in.js';
import { InvalidComponent } from './invalid-component.js';
import { isRecord, kindOfValue, meantText } from './words.js';

export type Definition = Record<string, unknown>;

const MAX_DEPTH = 10;

/** One definition in the chain of propDefinition references. The prop's own comes first. */
export interface Link {
  /** Keys of this definition, without its own reference. */
  readonly own: Definition;
  /** App whose propDefinitions hold it. Undefined for the prop's own definition. */
  readonly app: Definition | undefined;
  /** Third element of the reference to it. */
  readonly values: unknown;
}

const invalid = (prop: string, message: string): never => {
  throw new InvalidComponent(`prop "${prop}": ${message}`, prop);
};

/** Expands shorthand and follows propDefinition (docs/reference/component-model.md#prop-definition). */
export const resolveProp = (prop: string, definition: unknown): Definition => {
  const merged: Definition = {};
  for (const { own } of linksOf(prop, definition).reverse()) Object.assign(merged, own);
  return merged;
};

/** The chain of definitions of a prop. A definition earlier in it overrides a later one. Throws InvalidComponent. */
export const linksOf = (prop: string, definition: unknown): Link[] => {
  const links: Link[] = [];
  let at: { readonly definition: unknown; readonly app?: Definition; readonly values?: unknown } = { definition };
  for (;;) {
    const { app, values } = at;
    const given = typeof at.definition === 'string' ? { type: at.definition } : at.definition;
    const own =
      definitionIn(given) ??
      invalid(prop, `a definition must be an object or the name of a type, not ${kindOfValue(given)}`);
    const { propDefinition: reference, ...local } = own;
    links.push({ own: local, app, values });
    if (reference === undefined) return links;
    if (links.length > MAX_DEPTH) return invalid(prop, `the chain of propDefinition has more than ${MAX_DEPTH} links`);
    at = referenced(prop, reference);
  }
};

const referenced = (
  prop: string,
  reference: unknown,
): { readonly definition: unknown; readonly app: Definition; readonly values: unknown } => {
  if (!Array.isArray(reference) || reference.length < 2)
    return invalid(prop, 'propDefinition must be an array [app, name] or [app, name, values]');
  const [target, name, values] = reference as unknown[];
  const app = definitionIn(target);
  const definitions = app?.propDefinitions;
  if (!app || !isRecord(definitions))
    return invalid(prop, 'the first element of propDefinition must be an app with propDefinitions');
  if (typeof name === 'string' && Object.hasOwn(definitions, name))
    return { definition: definitions[name], app, values };
  const names = Object.keys(definitions);
  return invalid(
    prop,
    `app ${typeof app.app === 'string' ? `"${app.app}"` : 'given'} has no propDefinition "${String(name)}"; it has ${names.join(', ') || 'none'}${typeof name === 'string' ? meantText(nearMiss(name, names)) : ''}`,
  );
};
