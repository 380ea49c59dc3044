import { isObject, objectIn, stepsOf, textIn } from './definition-rules.js';
import { type JsonObject } from './check-shape.js';
import { type Path } from './findings.js';

export interface TextAt {
  readonly path: Path;
  readonly form: 'template' | 'expression';
  readonly text: string;
}

/** Every text of a definition that holds expressions. */
export const expressionTexts = (definition: JsonObject): readonly TextAt[] =>
  stepsOf(definition).flatMap(([i, step]) => {
    const path = ['steps', i];
    const single = ['if', 'for_each'].flatMap((key) => {
      const text = textIn(step, key);
      return text === undefined ? [] : [{ path: [...path, key], form: 'expression' as const, text }];
    });
    return [...single, ...templatesIn(objectIn(step, 'props'), [...path, 'props'])];
  });

/** Texts in lists and objects count, and keys do not. */
const templatesIn = (value: unknown, path: Path): readonly TextAt[] => {
  if (typeof value === 'string') return value.includes('{{') ? [{ path, form: 'template', text: value }] : [];
  if (Array.isArray(value)) return value.flatMap((each: unknown, i) => templatesIn(each, [...path, i]));
  return isObject(value) ? Object.entries(value).flatMap(([key, each]) => templatesIn(each, [...path, key])) : [];
};

/** Names of the props whose values hold expressions. */
export const propsWithExpressions = (props: JsonObject): ReadonlySet<string> =>
  new Set(Object.keys(props).filter((name) => templatesIn(props[name], []).length > 0));
