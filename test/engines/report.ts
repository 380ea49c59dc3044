import { type FileResult, type JestFigures } from './jest-run.js';

/** One line of the table: suites on one server, or the reason why there were none. */
export type Row =
  | { readonly title: string; readonly version: string; readonly on: string; readonly figures: JestFigures }
  | { readonly title: string; readonly on: 'not run'; readonly reason: string; readonly specs: number }
  | { readonly title: string; readonly on: 'broken'; readonly reason: string };

export const failed = (row: Row): boolean =>
  row.on === 'broken' || ('figures' in row && row.figures.numFailedTestSuites > 0);

const HEAD = ['engine', 'version', 'ran on', 'suites', 'tests'] as const;

/** The table for people. Reasons stand below it in full. */
export const tableOf = (rows: readonly Row[]): string => {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | '));
  const rule = widths.map((width) => '-'.repeat(width)).join('-|-');
  const reasons = rows.flatMap((row) => ('reason' in row ? [`${row.title}: ${row.on}: ${row.reason}`] : []));
  return [lines[0], rule, ...lines.slice(1), ...(reasons.length === 0 ? [] : ['', ...reasons])].join('\n');
};

const cellsOf = (row: Row): readonly string[] => {
  if (!('figures' in row)) return [row.title, '–', row.on, row.on === 'broken' ? '1 failed' : 'skipped', '–'];
  const { figures } = row;
  return [
    row.title,
    row.version,
    row.on,
    counted(figures.numPassedTestSuites, figures.numFailedTestSuites),
    counted(figures.numPassedTests, figures.numFailedTests),
  ];
};

const counted = (passed: number, failures: number): string =>
  failures === 0 ? `${passed} passed` : `${passed} passed, ${failures} failed`;

/** All rows in the form of Jest's report, for tools that read it (`.ci/run`). Specs that did not run count as pending. */
export const reportOf = (rows: readonly Row[]): { readonly testResults: readonly FileResult[] } => ({
  testResults: rows.flatMap((row) => {
    if ('figures' in row) return row.figures.testResults;
    const specs = row.on === 'broken' ? 0 : Math.max(1, row.specs);
    const assertionResults = Array.from({ length: specs }, () => ({ status: 'pending' }));
    return [{ name: row.title, status: row.on === 'broken' ? 'failed' : 'passed', assertionResults }];
  }),
});
