import { type MakeHarness, type Part } from './harness.js';
import { runParts, type Omitted } from './run-parts.js';
import { acknowledge, consume, order, publish, redeliver, sharing, topics } from './stream-log-consuming.suite.js';
import { type LogUnderTest } from './stream-log-harness.js';
import { moving, partitions } from './stream-log-lanes.suite.js';
import { tail } from './stream-log-tail.suite.js';
import { backlog, many, readPart, remove, retention, toItsEnd } from './stream-log-keeping.suite.js';

export { type LogUnderTest };

export const STREAM_LOG_PARTS = [
  'topics',
  'publish',
  'consume',
  'order',
  'acknowledge',
  'redeliver',
  'sharing',
  'partitions',
  'moving',
  'backlog',
  'retention',
  'delete',
  'many topics',
  'read',
  'to its end',
  'tail',
] as const;

export const describeStreamLog = (name: string, make: MakeHarness<LogUnderTest>): void =>
  runParts(`StreamLog: ${name}`, STREAM_LOG_PARTS, parts, make);
export const describeStreamLogDouble = (
  name: string,
  make: MakeHarness<LogUnderTest>,
  omitted: Omitted<(typeof STREAM_LOG_PARTS)[number]>,
): void => runParts(`StreamLog: ${name}`, STREAM_LOG_PARTS, parts, make, omitted);

const parts: Record<(typeof STREAM_LOG_PARTS)[number], Part<LogUnderTest>> = {
  topics: (port) => topics({ port }),
  publish: (port, get) => publish({ port, get }),
  consume: (port) => consume({ port }),
  order: (port) => order({ port }),
  acknowledge: (port, get) => acknowledge({ port, get }),
  redeliver: (port, get) => redeliver({ port, get }),
  sharing: (port) => sharing({ port }),
  partitions: (port) => partitions({ port }),
  moving: (port, get) => moving({ port, get }),
  backlog: (port, get) => backlog({ port, get }),
  retention: (port) => retention({ port }),
  delete: (port, get) => remove({ port, get }),
  'many topics': (port) => many({ port }),
  read: (port) => readPart({ port }),
  'to its end': (port) => toItsEnd({ port }),
  tail: (port) => tail({ port }),
};
