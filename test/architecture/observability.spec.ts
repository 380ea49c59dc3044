import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CORE_SCHEMA, load } from 'js-yaml';
import { ROOT } from '#test/harness/paths.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly annotations: { readonly summary: string; readonly description: string };
}
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const alerts = load(read('deploy/alerts.yml'), { schema: CORE_SCHEMA }) as { groups: { rules: Rule[] }[] };
const rules = alerts.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as { panels: Panel[] };

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
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => [`panel ${title}`, expr, legendFormat] as const),
  ),
];

describe('alert rules and the dashboard', () => {
  it('are there', () => {
    expect(metrics.size).toBeGreaterThan(30);
    expect(rules.length).toBeGreaterThan(5);
    expect(dashboard.panels.length).toBeGreaterThan(10);
  });

  it.each(expressions)('%s reads metrics and labels that exist', (_, expr, text) => {
    const named = [...expr.matchAll(/sluice_\w+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect([...metrics.keys()]).toContain(name);
    const known = named.flatMap((name) => metrics.get(name) ?? []);
    const shown = [...text.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label = '']) => label);
    for (const label of [...labelsIn(expr), ...shown]) expect(known).toContain(label);
  });

  it.each(rules)('$alert waits, and says what to do', (rule) => {
    expect(rule.for).toMatch(/^\d+m$/);
    expect(rule.annotations.summary).not.toBe('');
    expect(rule.annotations.description.length).toBeGreaterThan(20);
  });
});
