import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORE_SCHEMA, load } from 'js-yaml';
import { ROOT } from './paths.js';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly annotations: { readonly summary: string; readonly description: string };
}

export interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const alerts = load(read('deploy/alerts.yml'), { schema: CORE_SCHEMA }) as { groups: { rules: AlertRule[] }[] };
export const alertRules: readonly AlertRule[] = alerts.groups.flatMap((group) => group.rules);
export const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as { panels: readonly Panel[] };

export const metricsNamedIn = (expr: string): readonly string[] =>
  [...expr.matchAll(/sluice_\w+/g)].map(([name]) => name);

/** Ending of the title of a panel that only an installation of one process fills. */
const ONE_PROCESS = / \(one process\)$/;

/** Metrics of the shipped alert rules and dashboard that an installation does not export. `text` is all of its /metrics. */
export const metricsMissingIn = (text: string, engine: 'embedded' | 'servers'): readonly string[] => {
  const shown = panels.filter(({ title }) => engine === 'embedded' || !ONE_PROCESS.test(title));
  const exprs = [
    ...alertRules.map(({ expr }) => expr),
    ...shown.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  const exported = new Set<string>();
  for (const [, name = '', type] of text.matchAll(/^# TYPE (sluice_\w+) (\w+)$/gm)) {
    const endings = type === 'histogram' ? ['_bucket', '_count', '_sum'] : [''];
    for (const ending of endings) exported.add(name + ending);
  }
  return [...new Set(exprs.flatMap(metricsNamedIn))].filter((name) => !exported.has(name)).sort();
};
