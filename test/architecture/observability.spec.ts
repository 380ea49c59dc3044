import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '#test/harness/paths.js';
import { metricsInCode } from '#test/docs/metrics-reference.js';
import { alertRules as rules, metricsNamedIn, panels } from '#test/harness/shipped-metrics.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Labels of each metric, from the generated page. A histogram has series of its own. */
const metrics = new Map<string, readonly string[]>();
for (const [, name = '', type, labels = ''] of read('docs/reference/metrics.md').matchAll(
  /<\/a>`(sluice_\w+)` \| (\w+) \| ([^|]*) \|/g,
)) {
  const own = [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
  metrics.set(name, own);
  if (type !== 'histogram') continue;
  for (const ending of ['_count', '_sum']) metrics.set(name + ending, own);
  metrics.set(`${name}_bucket`, [...own, 'le']);
}

/** Labels that an expression uses, of all its metrics. */
const labelsIn = (expr: string): readonly string[] => [
  ...[...expr.matchAll(/\{(\w+)\s*=/g)].map(([, label = '']) => label),
  ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',').map((label) => label.trim())),
];

const expressions: readonly (readonly [string, string, string])[] = [
  ...rules.map(({ alert, expr, annotations }) => [`alert ${alert}`, expr, JSON.stringify(annotations)] as const),
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => [`panel ${title}`, expr, legendFormat] as const),
  ),
];

describe('alert rules and the dashboard', () => {
  it('are there', () => {
    expect(metrics.size).toBeGreaterThan(30);
    expect(rules.length).toBeGreaterThan(5);
    expect(panels.length).toBeGreaterThan(10);
  });

  it.each(expressions)('%s reads metrics and labels that exist', (_, expr, text) => {
    const named = metricsNamedIn(expr);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect([...metrics.keys()]).toContain(name);
    const known = named.flatMap((name) => metrics.get(name) ?? []);
    const shown = [...text.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label = '']) => label);
    for (const label of [...labelsIn(expr), ...shown]) expect(known).toContain(label);
  });

  it('read no metric that only one process with every role, or only roles on servers, export', () => {
    const places = new Map(metricsInCode().map(({ name, where }) => [name, where]));
    const onlyOf = (expr: string, place: RegExp) =>
      metricsNamedIn(expr).filter((name) => place.test(places.get(name.replace(/_(?:bucket|count|sum)$/, '')) ?? ''));
    for (const [title, expr] of expressions) {
      expect({ title, only: onlyOf(expr, /composition\/role\.ts$/) }).toEqual({ title, only: [] });
      const only = title.endsWith(' (one process)') ? [] : onlyOf(expr, /^apps\/standalone/);
      expect({ title, only }).toEqual({ title, only: [] });
    }
  });

  it.each(rules)('$alert waits, and says what to do', (rule) => {
    expect(rule.for).toMatch(/^\d+m$/);
    expect(rule.annotations.summary).not.toBe('');
    expect(rule.annotations.description.length).toBeGreaterThan(20);
  });
});
