/**
 * Assignments to constants and imports in a component's files (docs/reference/component-model.md#assigned-constants). Node
 * throws only when such a line runs. esbuild refuses it in a bundle, because it may turn `const` into `var` there. So the
 * target is replaced by one that reads the constant and throws when it is assigned.
 */
import { type Message } from 'esbuild';
import { COMPONENT } from '../protocol/source-map.js';

const ASSIGNED = /^Cannot assign to (?:import )?"([^"]+)"/;

export const isConstantAssignment = ({ text }: Message): boolean => ASSIGNED.test(text);

/** Replacements of one build. Each costs a pass over the file. */
export const MAX_ASSIGNMENTS = 100;

const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** Offset of each line's first character. */
const lineStarts = (text: string): readonly number[] => [
  0,
  ...[...text.matchAll(LINE_END)].map(({ index, 0: end }) => index + end.length),
];

interface Place {
  readonly at: number;
  readonly name: string;
}

/**
 * Replaces the targets in the files. Undefined when one of the errors is no such assignment or cannot be replaced. Line
 * numbers stay.
 */
export const withThrowingTargets = (
  texts: ReadonlyMap<string, string>,
  errors: readonly Message[],
): ReadonlyMap<string, string> | undefined => {
  const places = new Map<string, Place[]>();
  if (errors.length === 0 || errors.length > MAX_ASSIGNMENTS) return undefined;
  for (const error of errors) {
    const file = error.location?.file.startsWith(`${COMPONENT}:`)
      ? error.location.file.slice(COMPONENT.length + 1)
      : '';
    const text = texts.get(file);
    if (text === undefined || !error.location || !isConstantAssignment(error)) return undefined;
    const { line, column, length, lineText } = error.location;
    const start = lineStarts(text)[line - 1];
    if (start === undefined) return undefined;
    // esbuild counts bytes.
    const bytes = Buffer.from(lineText);
    const at = start + bytes.toString('utf8', 0, column).length;
    const name = bytes.toString('utf8', column, column + length);
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) || !text.startsWith(name, at)) return undefined;
    places.set(file, [...(places.get(file) ?? []), { at, name }]);
  }
  const changed = new Map(texts);
  for (const [file, found] of places) {
    const replaced = replacedIn(texts.get(file) ?? '', found);
    if (replaced === undefined) return undefined;
    changed.set(file, replaced);
  }
  return changed;
};

const replacedIn = (text: string, places: readonly Place[]): string | undefined => {
  const parts: string[] = [];
  let from = 0;
  for (const { at, name } of [...places].sort((a, b) => a.at - b.at)) {
    if (at < from) return undefined;
    const before = /\S(?=\s*$)/.exec(text.slice(Math.max(0, at - 200), at))?.[0] ?? '';
    // The target is a property of `import * as`, which esbuild refuses in every spelling.
    if (before === '.') return undefined;
    // `{ a } = x` needs `{ a: target }`. At the start of a block, `a:` is a label.
    const isLabel = before === '{' && !/\$\{\s*$/.test(text.slice(Math.max(0, at - 200), at));
    parts.push(text.slice(from, at), isLabel ? `${name}: ${targetOf(name)}` : targetOf(name));
    from = at + name.length;
  }
  parts.push(text.slice(from));
  return parts.join('');
};

/** Begins with a word, so that a line before it without a semicolon ends as before a name. */
const targetOf = (name: string): string =>
  `new class{get v(){return ${name}}set v(_){throw new TypeError("Assignment to constant variable.")}}().v`;
