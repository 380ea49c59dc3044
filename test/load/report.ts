import { type Machine } from './machine.js';
import { type Figures } from './measure.js';
import { median } from './memory.js';
import { type Plan, type Results } from './scenarios.js';

/** The results as Markdown. Medians of the rounds; loss, duplicates and failures are sums, worst cases are maxima. */
export const reportOf = (machine: Machine, plan: Plan, results: Results): string =>
  [
    `# Benchmark of ${machine.date.slice(0, 10)}`,
    '',
    `Commit ${machine.commit}, Node ${machine.node}, ${machine.os}, ${machine.cores} × ${machine.cpu}, ` +
      `${machine.memoryGb} GB, data on ${machine.filesystem}; load average before the start ${machine.loadBefore}. ` +
      `${plan.rounds} rounds of ${plan.duration} s a measurement, floor and Sluice in turns, load by ${plan.client} client. Method: ../README.md.`,
    '',
    ...startSection(results),
    ...loadSection(`At ${plan.rate} events/s (open loop)`, results.steady),
    ...loadSection(`At saturation (closed loop, ${plan.connections} connections)`, results.saturation),
    ...loadSection('Overload (open loop, 1.5 × what was delivered at saturation)', results.overload),
    ...memorySection(results),
    ...sourcesSection(results),
    ...outputSection('Engine', results.engine),
    ...outputSection('Routing', results.routing),
  ].join('\n') + '\n';

const table = (rows: readonly (readonly string[])[]): string[] => {
  const [head = [], ...rest] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '---:'))), ...rest.map(line), ''];
};

const shown = (value: number, digits = 0): string =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumFractionDigits: digits }) : '–';

const startSection = ({ startup }: Results): string[] => {
  if (startup.length === 0) return [];
  return [
    '## Start',
    '',
    ...table([
      ['', 'median', 'worst', 'to reach'],
      [
        '`npm start` until ready, ms',
        shown(median(startup.map((one) => one.readyMs))),
        shown(Math.max(...startup.map((one) => one.readyMs))),
        '2,000',
      ],
      [
        'RSS when idle, MB',
        shown(median(startup.map((one) => one.idleRssMb))),
        shown(Math.max(...startup.map((one) => one.idleRssMb))),
        '200',
      ],
    ]),
  ];
};

type Row = readonly [
  name: string,
  of: (figures: Figures) => number,
  over: (values: readonly number[]) => number,
  digits: number,
  ratio: boolean,
];

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const worst = (values: readonly number[]): number => Math.max(...values);

const ROWS: readonly Row[] = [
  ['delivered/s', (f) => f.deliveredPerSecond, median, 0, true],
  ['CPU µs an event', (f) => f.cpuUsPerEvent, median, 0, true],
  ['end to end p50, ms', (f) => f.endToEndMs.p50, median, 1, true],
  ['end to end p99, ms', (f) => f.endToEndMs.p99, median, 1, true],
  ['end to end worst, ms', (f) => f.endToEndMs.max, worst, 1, true],
  ['p99 of the first third, ms', (f) => f.firstThirdMs.p99, median, 1, false],
  ['p99 of the last third, ms', (f) => f.lastThirdMs.p99, median, 1, false],
  ['answer p50, ms', (f) => f.answerMs.p50, median, 1, true],
  ['answer p99, ms', (f) => f.answerMs.p99, median, 1, true],
  ['last arrival after the load, ms', (f) => f.drainMs, worst, 0, false],
  ['acknowledged', (f) => f.acknowledged, sum, 0, false],
  ['lost', (f) => f.lost, sum, 0, false],
  ['duplicates', (f) => f.duplicates, sum, 0, false],
  ['refused (429, 503)', (f) => f.refused, sum, 0, false],
  ['failed', (f) => f.failed, sum, 0, false],
  ['RSS main after, MB', (f) => f.rssAfterMb.main, worst, 0, false],
  ['RSS children after, MB', (f) => f.rssAfterMb.children, worst, 0, false],
  ['CPU µs an event of the load', (f) => f.loadCpuUsPerEvent, median, 0, false],
  ['CPU µs an event of the sink', (f) => f.sinkCpuUsPerEvent, median, 0, false],
];

const loadSection = (title: string, all: readonly Figures[]): string[] => {
  if (all.length === 0) return [];
  const floor = all.filter(({ target }) => target === 'floor');
  const sluice = all.filter(({ target }) => target === 'Sluice');
  const rows = ROWS.map(([name, of, over, digits, ratio]) => {
    const a = floor.length === 0 ? NaN : over(floor.map(of));
    const b = sluice.length === 0 ? NaN : over(sluice.map(of));
    return [name, shown(a, digits), shown(b, digits), ratio ? shown(b / a, 2) : ''];
  });
  return [`## ${title}`, '', ...table([['', 'floor', 'Sluice', 'Sluice ÷ floor'], ...rows])];
};

const memorySection = ({ memory }: Results): string[] => {
  if (!memory) return [];
  const { figures, samples, earlyMb, lateMb, mbPerMinute } = memory;
  const seconds = samples.at(-1)?.second ?? 0;
  return [
    '## Memory over time',
    '',
    `Closed loop for ${shown(seconds)} s: ${shown(figures.delivered)} events at ${shown(figures.deliveredPerSecond)}/s, ` +
      `lost ${figures.lost}, duplicates ${figures.duplicates}. RSS of all processes: median ${shown(earlyMb)} MB in the ` +
      `second fifth, ${shown(lateMb)} MB in the last, ${shown(mbPerMinute, 1)} MB a minute by a straight line.`,
    '',
  ];
};

const sourcesSection = ({ sources: s }: Results): string[] => {
  if (!s) return [];
  return [
    `## ${shown(s.sources)} sources`,
    '',
    ...table([
      ['', ''],
      ['deploy and subscribe all, s', shown(s.seconds, 1)],
      ['each, ms (four at a time)', shown(s.msEach, 1)],
      ['slowest, ms', shown(s.slowestMs)],
      ['RSS before, MB (main, children)', `${shown(s.before.mainRssMb)}, ${shown(s.before.childrenRssMb)}`],
      ['RSS after, MB (main, children)', `${shown(s.after.mainRssMb)}, ${shown(s.after.childrenRssMb)}`],
      ['one event to each: delivered', shown(s.delivered)],
      [
        'RSS after the events, MB (main, children)',
        `${shown(s.afterEvents.mainRssMb)}, ${shown(s.afterEvents.childrenRssMb)} in ${s.afterEvents.processes} processes`,
      ],
      ['PSS of all after the events, MB', shown(s.afterEventsPssMb)],
      ['restart until ready, ms', shown(s.restartMs)],
    ]),
  ];
};

const outputSection = (title: string, output: string | undefined): string[] =>
  output === undefined ? [] : [`## ${title}`, '', ...(output.startsWith('|') ? [output] : ['```', output, '```']), ''];
