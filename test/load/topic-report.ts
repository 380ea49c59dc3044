import { type Machine } from './machine.js';
import { type LayoutFigures } from './topic-run.js';

interface ReportOptions {
  readonly heap: number;
  readonly limit: number;
  readonly flush: boolean;
  readonly partitions: number;
}

const shown = (value: number | null, digits = 0): string =>
  value === null ? '> limit' : value.toLocaleString('en', { maximumFractionDigits: digits });

type Row = readonly [name: string, of: (figures: LayoutFigures) => string];

const ROWS: readonly Row[] = [
  ['emitters', (f) => shown(f.emitters)],
  ['partitions', (f) => shown(f.partitions)],
  ['topics of the first 100 emitters, as the product makes them, s', (f) => shown(f.create.oneByOneSeconds, 1)],
  ['topics of the rest, in large requests, s', (f) => shown(f.create.bulkSeconds, 1)],
  ['create one topic, ms: p50', (f) => shown(f.create.topicMs.p50, 1)],
  ['… p99', (f) => shown(f.create.topicMs.p99, 1)],
  ['broker RSS, MB', (f) => shown(f.holding.rssMb)],
  ['… before', (f) => shown(f.empty.rssMb)],
  ['broker live heap, MB', (f) => shown(f.holding.liveHeapMb)],
  ['… before', (f) => shown(f.empty.liveHeapMb)],
  ['broker open files', (f) => shown(f.holding.openFiles)],
  ['broker memory maps', (f) => shown(f.holding.maps)],
  ['disk, MB (with the records published)', (f) => shown(f.holding.diskMb)],
  ['broker CPU without clients, % of a core', (f) => shown(f.brokerIdlePercent, 1)],
  ['… with one consumer, nothing to do', (f) => shown(f.brokerWatchedPercent, 1)],
  ['that consumer: CPU, % of a core', (f) => shown(f.consumer.cpuPercent, 1)],
  ['… reads, KB/s', (f) => shown(f.consumer.readKbPerSecond, 1)],
  ['… writes, KB/s', (f) => shown(f.consumer.writtenKbPerSecond, 1)],
  ['… RSS, MB', (f) => shown(f.consumer.rssMb)],
  ['one look at all topics: KB', (f) => shown(f.metadata.bytes / 1_024, 1)],
  ['… ms', (f) => shown(f.metadata.ms, 1)],
  ['publish over all emitters, records/s', (f) => shown(f.publish.records / f.publish.seconds)],
  ['… call p50, ms', (f) => shown(f.publish.callMs.p50, 1)],
  ['… call p99, ms', (f) => shown(f.publish.callMs.p99, 1)],
  ['… CPU µs a record: broker', (f) => shown(f.publish.brokerCpuUs)],
  ['… CPU µs a record: client', (f) => shown(f.publish.clientCpuUs)],
  ['first member holds all lanes, ms', (f) => shown(f.firstMemberMs)],
  ['second member joins: shared out, ms', (f) => shown(f.secondJoinsMs)],
  ['second member killed: taken over, ms (session 6 s)', (f) => shown(f.secondKilledMs)],
  ['second member leaves: taken over, ms', (f) => shown(f.secondLeavesMs)],
  ['new emitter until its first record is consumed, ms: median', (f) => shown(f.firstRecordMs.median)],
  ['… worst of 10', (f) => shown(f.firstRecordMs.worst)],
  ['broker stops, ms', (f) => shown(f.cleanRestart.stopMs)],
  ['broker started again, takes records, ms', (f) => shown(f.cleanRestart.takesRecordsMs)],
  ['… after kill -9', (f) => shown(f.restartAfterKill.takesRecordsMs)],
];

export const topicReport = (machine: Machine, options: ReportOptions, results: readonly LayoutFigures[]): string => {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const titles = results.map(
    ({ layout, asked }) => `${layout === 'shared' ? 'shared' : 'per emitter'}, ${shown(asked)}`,
  );
  const short = results.filter(({ emitters, asked }) => emitters < asked);
  return [
    `# Topic layouts, ${machine.date.slice(0, 10)}`,
    '',
    `Commit ${machine.commit}, Node ${machine.node}, ${machine.os}, ${machine.cores} × ${machine.cpu}, ${machine.memoryGb} GB, data on ` +
      `${machine.filesystem}; load average before the start ${machine.loadBefore}. One Kafka broker with ${options.heap} MB heap, ` +
      `a fresh one for each column; appends ${options.flush ? 'wait' : 'do not wait'} for the disk. Two topics an emitter ` +
      `(invocations, emits) against ${options.partitions} partitions of each shared topic. Records of 1 KB, one a call, 256 in flight. ` +
      `Time limit of a step ${options.limit} s. Method: ../README.md.`,
    '',
    line(['', ...titles]),
    line(['---', ...titles.map(() => '---:')]),
    ...ROWS.map(([name, of]) => line([name, ...results.map(of)])),
    '',
    ...short.map(
      ({ asked, emitters, openFilesLimit }) =>
        `${shown(asked)} emitters were asked for: the machine grants the broker ${shown(openFilesLimit)} open files, and each ` +
        `partition has one, so ${shown(emitters)} were made (as many as fit, or as came to be within the time limit).`,
    ),
    '',
  ].join('\n');
};
