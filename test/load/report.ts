import { type Machine } from './machine.js';
import { type Figures } from './measure.js';
import { median } from './memory.js';
import { type PartUsage } from './part-usage.js';
import { sandboxesOf } from './roles-target.js';
import { type Plan, type Results } from './scenarios.js';
import { type StorePerEvent } from './store-figures.js';
import { type TargetName } from './targets.js';

/**
 * Formats the results as Markdown. Rounds give medians, loss, duplicates and failures give sums, and worst cases give
 * maxima.
 */
export const reportOf = (machine: Machine, plan: Plan, results: Results): string =>
  [
    `# Benchmark of ${machine.date.slice(0, 10)}`,
    '',
    `Commit ${machine.commit}, Node ${machine.node}, ${machine.os}, ${machine.cores} × ${machine.cpu}, ` +
      `${machine.memoryGb} GB, data on ${machine.filesystem}; load average before the start ${machine.loadBefore}. ` +
      `${plan.rounds} rounds of ${plan.duration} s a measurement, floor and Sluice in turns, load by ${plan.client} client. Method: ../README.md.`,
    '',
    ...rolesPreface(plan),
    ...startSection(results),
    ...loadSection(`At ${plan.rate} events/s (open loop)`, results.steady),
    ...loadSection(`At saturation (closed loop, ${plan.connections} connections)`, results.saturation),
    ...loadSection('Overload (open loop, 1.5 × what was delivered at saturation)', results.overload),
    ...partsSection(results),
    ...storesSection(results),
    ...rolesStartSection(results),
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

const COLUMNS: readonly (readonly [target: TargetName, title: string])[] = [
  ['floor', 'floor'],
  ['Sluice', 'Sluice'],
  ['workflow-1', 'workflow of 1 step'],
  ['workflow-10', 'workflow of 10'],
  ['roles', 'roles'],
];

const loadSection = (title: string, all: readonly Figures[]): string[] => {
  if (all.length === 0) return [];
  const of = (name: TargetName): readonly Figures[] => all.filter(({ target }) => target === name);
  // Floor and Sluice keep their columns even when only one of them was measured.
  const columns = COLUMNS.filter(([name]) => name === 'floor' || name === 'Sluice' || of(name).length > 0);
  const rows = ROWS.map(([name, read, over, digits, ratio]) => {
    const values = columns.map(([target]) => (of(target).length === 0 ? NaN : over(of(target).map(read))));
    const [floor = NaN, ...rest] = values;
    return [
      name,
      ...values.map((value) => shown(value, digits)),
      ...rest.map((value) => (ratio ? shown(value / floor, 2) : '')),
    ];
  });
  const titles = columns.map(([, text]) => text);
  const head = ['', ...titles, ...titles.slice(1).map((text) => `${text} ÷ floor`)];
  return [`## ${title}`, '', ...table([head, ...rows])];
};

const rolesPreface = ({ targets, roles }: Plan): string[] => {
  if (!targets.includes('roles')) return [];
  const { copies, emitters, steps, kafkaHeapMb, kafkaFlush, kafkaBrokers = 1 } = roles;
  const more = Object.entries(copies).map(([role, count]) => `${count} × ${role}`);
  return [
    '`Sluice` is the standalone server on the embedded engines; `roles` a process a role on Kafka (real), FerretDB on ' +
      'SQLite (instead of MongoDB) and EventStoreDB, all on the same machine as load, sink and floor. ' +
      `${more.length === 0 ? 'One process a role' : `${more.join(', ')}, one of each other role`}; ` +
      `${emitters} ${steps === undefined ? 'source' : `${steps}-step workflow`}${emitters === 1 ? '' : 's'}, each with a webhook of its own; at most ${sandboxesOf(roles)} sandboxes a runner; ${kafkaBrokers === 3 ? 'three brokers, three copies of each topic, each broker' : 'broker'} with ${kafkaHeapMb} MB heap, appends ` +
      `${kafkaFlush ? 'wait for the disk (as docker-compose.yml has it for one broker)' : 'do not wait for the disk'}. ` +
      'Roles were measured after the others, alone on the machine, after a load of 15 s that is not counted.',
    '',
  ];
};

/** CPU and memory of each part of the roles and of the standalone server. */
const partsSection = ({ steady, saturation }: Results): string[] => {
  const of = (all: readonly Figures[]) => all.filter(({ target }) => target === 'roles').map(({ parts }) => parts);
  const [slow, fast] = [of(steady), of(saturation)];
  const names = [...new Set([...slow, ...fast].flat().map(({ name }) => name))];
  if (names.length === 0) return [];
  const over = (rounds: readonly (readonly PartUsage[])[], name: string, read: (part: PartUsage) => number): number =>
    median(rounds.map((parts) => sum(parts.filter((part) => part.name === name).map(read))));
  const row = (name: string): number[] => [
    over(slow, name, ({ cpuUs }) => cpuUs),
    over(fast, name, ({ cpuUs }) => cpuUs),
    over(fast.length > 0 ? fast : slow, name, ({ rssMb }) => rssMb),
  ];
  const rows = names.map((name) => ({ name, values: row(name) }));
  const totals = [0, 1, 2].map((column) => sum(rows.map(({ values }) => values[column] ?? NaN)));
  return [
    '## Roles: where it goes',
    '',
    ...table([
      ['', 'CPU µs an event, steady', 'CPU µs an event, saturation', 'RSS after, MB'],
      ...rows.map(({ name, values }) => [name, ...values.map((value) => shown(value))]),
      ['all', ...totals.map((value) => shown(value))],
    ]),
  ];
};

/** Figures of a single source. With many sources each has its own commits of fewer runs. */
const storesSection = ({ steady, saturation }: Results): string[] => {
  const of = (all: readonly Figures[]) => all.flatMap(({ stores }) => stores ?? []);
  const [slow, fast] = [of(steady), of(saturation)];
  if (slow.length + fast.length === 0) return [];
  const kinds = [...new Set([...slow, ...fast].flatMap(({ topics }) => Object.keys(topics)))];
  const models = [...new Set([...slow, ...fast].flatMap(({ batches }) => Object.keys(batches)))];
  const row = (name: string, read: (stores: StorePerEvent) => number, digits: number): string[] => [
    name,
    shown(median(slow.map(read)), digits),
    shown(median(fast.map(read)), digits),
  ];
  return [
    '## Roles: what an event writes',
    '',
    ...table([
      ['an event', 'steady', 'saturation'],
      ...kinds.flatMap((kind) => [
        row(`Kafka: records on ${kind}`, ({ topics }) => topics[kind]?.records ?? 0, 2),
        row(`… bytes of their log, one copy`, ({ topics }) => topics[kind]?.bytes ?? 0, 0),
      ]),
      row('MongoDB: commits of run journals', ({ journalCommits }) => journalCommits, 4),
      ...models.map((name) => row(`MongoDB: batches of ${name}`, ({ batches }) => batches[name] ?? 0, 4)),
    ]),
  ];
};

const rolesStartSection = ({ rolesStart }: Results): string[] => {
  if (!rolesStart) return [];
  const { enginesMs, readyMs, idle } = rolesStart;
  const listed = (ms: Readonly<Record<string, number>>): string =>
    Object.entries(ms)
      .map(([name, value]) => `${name} ${shown(value)}`)
      .join(', ');
  return [
    '## Roles: start, and nothing to do',
    '',
    `Engines, ms until they listen, one after the other: ${listed(enginesMs)}. Roles, all started at once, ms until ready: ${listed(readyMs)}.`,
    '',
    ...table([
      ['', 'CPU when idle, % of a core', 'RSS when idle, MB'],
      ...idle.map(({ name, cpuUs, rssMb }) => [name, shown(cpuUs / 10_000, 1), shown(rssMb)]),
      ['all', shown(sum(idle.map(({ cpuUs }) => cpuUs)) / 10_000, 1), shown(sum(idle.map(({ rssMb }) => rssMb)))],
    ]),
  ];
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
