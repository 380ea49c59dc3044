import { type ComponentObject } from './component.js';
import { type Warnings } from './component-warnings.js';
import { isRecord } from './words.js';

/** The variable that is set (docs/reference/component-model.md#run-environment), and names that are never set. */
const SET: ReadonlySet<string> = new Set(['PD_COMPONENT', 'NODE_ENV']);
const MOST_NAMES = 5;
/** Reads without a default. */
const READS = /\bprocess\.env(?:\.([A-Za-z_]\w*)|\[\s*["']([A-Za-z_]\w*)["']\s*\])(?!\s*(?:=(?!=)|\?\?|\|\|))/g;

/** The bundler replaces `this` at the top of a module by undefined, or by the exports of a CommonJS file. */
const THIS = /\bthis\b|\(?void 0\)?\??\.|\bexports\d*\.[$\w]/;
const ARROW = /^(?:async\s*)?(?:\([^]*?\)|[\w$]+)\s*=>/;

/**
 * Warns of mistakes in the text of the component's functions. Minified or generated code may hide them.
 *
 * @param hasVariables whether its process has the variables of the workspace
 */
export const warnOfCode = (component: ComponentObject, hasVariables: boolean, warnings: Warnings): void => {
  const { run } = component;
  if (isFunction(run)) {
    const text = textOf(run);
    if (ARROW.test(text) && THIS.test(text))
      warnings.add(
        'arrow_run',
        'run',
        'run is an arrow function and uses this, which is not the component there: write run(event) { … }',
      );
  }
  if (!hasVariables) warnOfVariables(component, warnings);
};

const warnOfVariables = (component: ComponentObject, warnings: Warnings): void => {
  const read = new Map<string, string>();
  for (const [path, value] of functionsOf(component))
    for (const [, dotted, quoted] of textOf(value).matchAll(READS)) {
      const name = dotted ?? quoted ?? '';
      if (!SET.has(name) && !read.has(name)) read.set(name, path);
    }
  for (const [name, path] of [...read].slice(0, MOST_NAMES))
    warnings.add(
      'empty_variable',
      path,
      `process.env.${name} is not set in components: declare a prop of type string, with secret: true for a secret, and read this.<prop>`,
    );
};

const functionsOf = ({ run, methods, hooks, additionalProps }: ComponentObject): [string, () => unknown][] => {
  const found: [string, unknown][] = [
    ['run', run],
    ['additionalProps', additionalProps],
    ...(isRecord(hooks)
      ? Object.entries(hooks).map(([name, hook]) => [`hooks.${name}`, hook] as [string, unknown])
      : []),
    ...(isRecord(methods)
      ? Object.entries(methods).map(([name, method]) => [`methods.${name}`, method] as [string, unknown])
      : []),
  ];
  return found.flatMap(([path, value]) => (isFunction(value) ? [[path, value] as [string, () => unknown]] : []));
};

const isFunction = (value: unknown): value is () => unknown => typeof value === 'function';

const textOf = (value: () => unknown): string => Function.prototype.toString.call(value);
