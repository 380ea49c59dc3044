import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { START, type NewEvent, type Position } from '#libs/kernel/events.js';
import { headOf } from '#libs/runner/lane-state.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { openEngines } from '#libs/engines/embedded/testing/open-engines.js';

/**
 * Benchmarks the embedded engines alone: operations a second and CPU µs an operation. CPU is split into the main thread
 * and all other threads (writer, garbage collection). Values have 1 KB. `node dist/test/load/engine-bench.js [folder]`
 */

const COUNT = 30_000;
const PADDING = 'x'.repeat(960);

interface Row {
  readonly name: string;
  readonly count: number;
  readonly seconds: number;
  readonly mainUs: number;
  readonly otherUs: number;
  readonly p99Ms: number | undefined;
}

/** CPU time of the main thread so far, µs; undefined where the system does not report it. */
const mainCpu = (): number | undefined => {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  } catch (error) {
    console.error(`no CPU time of the main thread: ${String(error)}`);
    return undefined;
  }
};

const measure = async (name: string, count: number, work: () => Promise<number[] | void>): Promise<Row> => {
  const [main, all, start] = [mainCpu(), process.cpuUsage(), performance.now()];
  const latencies = (await work()) ?? [];
  const seconds = (performance.now() - start) / 1000;
  const used = process.cpuUsage(all);
  const mainUs = ((mainCpu() ?? Number.NaN) - (main ?? Number.NaN)) / count;
  latencies.sort((a, b) => a - b);
  return {
    name,
    count,
    seconds,
    mainUs,
    otherUs: (used.user + used.system) / count - mainUs,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)],
  };
};

/** Makes `count` calls, `width` at a time. Resolves with the duration of each, ms. */
const closedLoop = async (count: number, width: number, call: (n: number) => Promise<unknown>): Promise<number[]> => {
  const latencies: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const start = performance.now();
      await call(n);
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return latencies;
};

const event = (n: number): NewEvent => ({
  id: `event-${n}-${Math.random()}`,
  type: 'Measured',
  data: { n, PADDING },
  metadata: {
    $correlationId: 'c',
    $causationId: 'c',
    commandId: `command-${n}`,
    actor: { userId: 'u_bench', apiKeyId: null },
    workspaceId: 'o_bench',
    schemaVersion: 1,
  },
});

const record = (topic: string, n: number): LogRecord => ({
  topic,
  key: topic,
  headers: { kind: 'emit', id: `1763724000000-${n}`, emitter: topic, workspace: 'o_bench', channel: '', hops: '0' },
  value: JSON.stringify({ n, PADDING }),
});

let streams = 0;
const appends = (engines: EmbeddedEngines, count: number, width: number): Promise<Row> =>
  measure(`append, ${width} at a time`, count, () =>
    closedLoop(count, width, (n) => engines.events.append(`bench-${streams++}`, [event(n)], 'no_stream')),
  );

const replay = async (engines: EmbeddedEngines): Promise<Row> => {
  let count = 0;
  const row = await measure('$all replay', 1, async () => {
    for (let after: Position = START; ;) {
      const page = await engines.events.readAll(after, 1000);
      const last = page.at(-1);
      if (!last) return;
      count += page.length;
      after = last.position;
    }
  });
  return { ...row, count, mainUs: row.mainUs / count, otherUs: row.otherUs / count };
};

/** Publishes and consumes concurrently until every record is acknowledged. */
const stream = async (engines: EmbeddedEngines, topics: number, perCall: number): Promise<Row> => {
  const prefix = `stream${topics}x${perCall}.`;
  const names = Array.from({ length: topics }, (_, i) => prefix + i);
  await Promise.all(names.map((name) => engines.log.createTopic(name, { dropConsumed: true })));
  let consumed = 0;
  let done: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (done = resolve));
  const consumer = await engines.log.consume({
    group: prefix,
    topics: { prefix },
    maxBatch: 256,
    maxUnacked: 1024,
    handler: async (batch) => {
      for (const { offset } of batch.records) batch.ack(offset);
      consumed += batch.records.length;
      if (consumed >= COUNT) done();
    },
  });
  const row = await measure(`publish ${perCall} a call and consume, ${topics} topics`, COUNT, async () => {
    const latencies = await closedLoop(COUNT / perCall, Math.ceil(256 / perCall), (n) =>
      engines.log.publish(
        Array.from({ length: perCall }, (_, i) => record(names[(n * perCall + i) % topics] ?? '', n * perCall + i)),
      ),
    );
    await finished;
    return latencies;
  });
  await consumer.close();
  return row;
};

/** Reads a backlog from the file, as after a restart. */
const catchUp = async (engines: EmbeddedEngines): Promise<Row> => {
  await engines.log.createTopic('backlog', {});
  for (let n = 0; n < COUNT; n += 500) {
    await engines.log.publish(Array.from({ length: 500 }, (_, i) => record('backlog', n + i)));
  }
  let consumed = 0;
  return measure('consume a backlog', COUNT, async () => {
    let done: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (done = resolve));
    const consumer = await engines.log.consume({
      group: 'late',
      topics: { names: ['backlog'] },
      maxBatch: 256,
      maxUnacked: 1024,
      handler: async (batch) => {
        for (const { offset } of batch.records) batch.ack(offset);
        consumed += batch.records.length;
        if (consumed >= COUNT) done();
      },
    });
    await finished;
    await consumer.close();
  });
};

/** Runs of ten sources, each with an emit, a changed db key and an inbox entry. */
const journal = async (engines: EmbeddedEngines, count: number): Promise<Row> => {
  const sources = Array.from({ length: 10 }, (_, i) => `dc_bench${i}`);
  await Promise.all(sources.map((source) => engines.log.createTopic(`emits.${source}`, {})));
  const versions = sources.map(() => 0);
  return measure('journal commit (1 emit, 1 key, 1 inbox)', count, () =>
    closedLoop(count, 64, (n) => {
      const which = n % sources.length;
      const executable = sources[which] ?? '';
      const version = versions[which] ?? 0;
      versions[which] = version + 1;
      return engines.journal.commit({
        executable,
        expectedVersion: version,
        head: headOf({ progress: { through: n, above: [] }, lastEventId: `1763724000000-${n}` }),
        parts: { 'db/count': String(n) },
        inbox: [`inv_${n}`],
        records: [record(`emits.${executable}`, n)],
      });
    }),
  );
};

const projection = async (engines: EmbeddedEngines, count: number): Promise<Row> => {
  const schema = { name: 'bench.summaries.v1', indexed: ['emitter', 'channel'], sort: 'at' };
  const { active } = await engines.readModels.register(schema);
  let checkpoint: string | null = null;
  return measure('project 1 KB documents, 100 a batch', count, async () => {
    for (let n = 0; n < count; n += 100) {
      const next = String(n + 100);
      const writes = Array.from({ length: 100 }, (_, i) => ({
        op: 'put' as const,
        doc: { id: `e${n + i}`, emitter: `dc_${i % 10}`, channel: '', at: String(n + i).padStart(12, '0'), PADDING },
      }));
      await engines.readModels.apply({ schema, generation: active, expected: checkpoint, next, writes });
      checkpoint = next;
    }
  });
};

const print = (rows: readonly Row[]): void => {
  const line = (cells: readonly string[]): string =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(46) : cell.padStart(12))).join('');
  console.log(line(['', 'ops', 'ops/s', 'main µs', 'other µs', 'p99 ms']));
  for (const { name, count, seconds, mainUs, otherUs, p99Ms } of rows) {
    const rate = Math.round(count / seconds).toLocaleString('en');
    const p99 = p99Ms === undefined ? '' : p99Ms.toFixed(2);
    console.log(line([name, count.toLocaleString('en'), rate, mainUs.toFixed(1), otherUs.toFixed(1), p99]));
  }
};

const main = async (): Promise<void> => {
  const dataDir = await mkdtemp(join(process.argv[2] ?? tmpdir(), 'sluice-engine-bench-'));
  const start = performance.now();
  const engines = await openEngines(dataDir);
  const opened = performance.now() - start;
  const idle = process.memoryUsage().rss;
  try {
    await appends(engines, 2000, 64);
    const rows = [
      await appends(engines, 3000, 1),
      await appends(engines, COUNT, 64),
      await appends(engines, COUNT, 512),
      await replay(engines),
      await stream(engines, 1, 1),
      await stream(engines, 10, 16),
      await stream(engines, 1000, 16),
      await catchUp(engines),
      await journal(engines, COUNT),
      await projection(engines, COUNT),
    ];
    print(rows);
    const { commits, opsPerCommit } = engines.stats();
    const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
    console.log(`opened in ${opened.toFixed(0)} ms; ${commits} commits, ${opsPerCommit.toFixed(1)} operations each`);
    console.log(`resident: ${mb(idle)} after opening, ${mb(process.memoryUsage().rss)} at the end`);
  } finally {
    await engines.close();
    await rm(dataDir, { recursive: true });
  }
};

await main();
