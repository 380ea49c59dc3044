import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '#test/harness/paths.js';

export interface CitingTest {
  readonly file: string;
  /** Titles of the groups around it, outermost first, and its own. */
  readonly titles: readonly string[];
  /** Anchors of the REST reference that a comment right above it names. */
  readonly anchors: readonly string[];
}

const PAGE = 'docs/reference/rest-api.md';
const CITATION = /\/\/ docs\/reference\/rest-api\.md((?: ?#[a-z0-9-]+)+)/g;

const specFiles = (): readonly string[] =>
  ['apps', 'libs', 'test'].flatMap((root) =>
    readdirSync(join(ROOT, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('spec.ts'))
      .map((name) => join(root, name))
      .sort(),
  );

/** Title of `it(…)`, `describe(…)` and `it.each(…)(…)`; undefined of any other call. */
const titleOf = (call: ts.CallExpression): string | undefined => {
  if (!/^(it|test|describe)\b/.test(call.expression.getText())) return undefined;
  const [first] = call.arguments;
  if (first === undefined) return undefined;
  if (ts.isStringLiteralLike(first)) return first.text;
  return ts.isTemplateExpression(first) ? first.getText().slice(1, -1) : undefined;
};

const citedAbove = (text: string, node: ts.Node): readonly string[] =>
  (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []).flatMap(({ pos, end }) =>
    [...text.slice(pos, end).matchAll(CITATION)].flatMap(([, list = '']) => list.match(/[a-z0-9][a-z0-9-]*/g) ?? []),
  );

/** Tests and groups of a file that cite a rule, in their order. */
export const citingTestsIn = (file: string, text: string): readonly CitingTest[] => {
  const found: CitingTest[] = [];
  const visit = (node: ts.Node, titles: readonly string[]): void => {
    let inner = titles;
    if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
      const title = titleOf(node.expression);
      if (title !== undefined) {
        inner = [...titles, title];
        const anchors = citedAbove(text, node);
        if (anchors.length > 0) found.push({ file, titles: inner, anchors });
      }
    }
    node.forEachChild((child) => visit(child, inner));
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true), []);
  return found;
};

export const citingTests = (): readonly CitingTest[] =>
  specFiles().flatMap((file) => citingTestsIn(file, readFileSync(join(ROOT, file), 'utf8')));

/** Anchors of the page's rules, in their order. */
export const rulesOfApi = (): readonly string[] =>
  [...readFileSync(join(ROOT, PAGE), 'utf8').matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id);
