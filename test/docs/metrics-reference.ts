import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '#test/harness/paths.js';

export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  /** File that registers it. */
  readonly where: string;
}

/** The methods of libs/telemetry/metrics.ts that register a metric, with its type in Prometheus. */
const TYPES: Readonly<Record<string, MetricRow['type']>> = {
  counter: 'counter',
  tally: 'counter',
  gauge: 'gauge',
  sampled: 'gauge',
  histogram: 'histogram',
};

const textOf = (node: ts.Expression | undefined): string | undefined =>
  node && ts.isStringLiteralLike(node) ? node.text : undefined;

const labelsOf = (method: string, args: readonly ts.Expression[]): readonly string[] => {
  const list = args[2];
  if (method === 'sampled') {
    const label = textOf(args[3]);
    if (label !== undefined) return [label];
    // A sample that is one number has no label, and one that is an object has `name`.
    return /\(\{|Object\.fromEntries/.test(list?.getText() ?? '') ? ['name'] : [];
  }
  if (list && ts.isArrayLiteralExpression(list)) return list.elements.map((each) => textOf(each) ?? '');
  const label = textOf(list);
  return label === undefined ? [] : [label];
};

const metricsIn = (where: string): readonly MetricRow[] => {
  const source = ts.createSourceFile(where, readFileSync(join(ROOT, where), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: MetricRow[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
    const method = node.expression.name.text;
    const type = TYPES[method];
    const [name, help] = [textOf(node.arguments[0]), textOf(node.arguments[1])];
    if (type === undefined || !name?.startsWith('sluice_') || help === undefined) return;
    found.push({ name, type, help, where, labels: labelsOf(method, node.arguments) });
  };
  visit(source);
  return found;
};

/** Every metric that the code registers, by name. */
export const metricsInCode = (): readonly MetricRow[] =>
  ['apps', 'libs']
    .flatMap((root) =>
      readdirSync(join(ROOT, root), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !/spec\.ts$|\/testing\//.test(name))
        .flatMap((name) => metricsIn(join(root, name))),
    )
    .sort((a, b) => a.name.localeCompare(b.name));

const row = ({ name, type, labels, help, where }: MetricRow): string =>
  `| <a id="${name}"></a>\`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ') || '–'} | ${help} | [${where.split('/').at(-1) ?? ''}](../../${where}) |`;

/** Content of docs/reference/metrics.md. */
export const metricsReference = (): string =>
  [
    '# Metrics',
    '',
    '`GET /metrics` answers in the Prometheus text format, [on loopback only](config.md) unless `SLUICE_METRICS=open`. Durations are in seconds. A process exports the metrics of the roles that it has, so the standalone process has nearly all of them. The metrics of Node.js that prom-client collects by default (`process_…`, `nodejs_…`) come on top. The delay of the event loop (`nodejs_eventloop_lag_…`) is looked at every 50 ms, so its quantiles are 50 ms where nothing delays it. This page is generated from the code: `npm run docs:reference`. Alerts: [scale-out.md](../how-to/scale-out.md#monitor).',
    '',
    '| Metric | Type | Labels | Meaning | Registered in |',
    '| --- | --- | --- | --- | --- |',
    ...metricsInCode().map(row),
    '',
  ].join('\n');
