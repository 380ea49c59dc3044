import { afterEach, describe, expect, it } from '@jest/globals';
import { positionOf, type Position } from '#libs/kernel/events.js';
import { type Pressure, type ProcessRegistry, type ProcessReport } from '#libs/kernel/process-registry.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { type Logger } from '#libs/telemetry/index.js';
import { appliedEverywhere, ClusterBacklog, highestOf, ProcessReporter, readModelsApplied } from './cluster.js';
import { projections } from '#libs/composition/contexts.js';
import { readModelsIn } from '#libs/composition/read-models.js';
import { pressureOf } from './told-pressure.js';

class Registry implements ProcessRegistry {
  reports = new Map<string, ProcessReport>();
  told: ProcessReport[] = [];
  failure: Error | undefined;

  async report(report: ProcessReport): Promise<void> {
    if (this.failure) throw this.failure;
    this.reports.set(report.id, report);
    this.told.push(report);
  }
  async live(): Promise<readonly ProcessReport[]> {
    if (this.failure) throw this.failure;
    return [...this.reports.values()];
  }
  async registered(): Promise<readonly string[]> {
    return [...this.reports.keys()];
  }
  async leave(id: string): Promise<void> {
    this.reports.delete(id);
  }
}

const at = (n: number): Position => positionOf(n);
const own = { waitFor: async (): Promise<boolean> => true };
const report = (id: string, position: Position, role = 'router', pressure?: Pressure): ProcessReport => ({
  id,
  role,
  position,
  backlog: 0,
  uptimeMs: 0,
  ...(pressure ? { pressure } : {}),
});
const noFailure = (error: unknown): never => {
  throw error;
};
const logging = (heard: unknown[]): Pick<Logger, 'warn'> => ({
  warn: (fields: unknown, text?: unknown) => void heard.push([fields, text]),
});
const warned: unknown[] = [];
const silent = logging(warned);
afterEach(() => expect(warned).toEqual([]));

/** Applies every read model up to a position, and those of `except` up to another. */
const readModelsAt = async (position: Position, except: Readonly<Record<string, Position>> = {}) => {
  const readModels = new InMemoryReadModels();
  for (const { schema, name } of projections) {
    const { active: generation } = await readModels.register(schema);
    const next = except[name] ?? position;
    await readModels.apply({ schema, generation, expected: null, next, writes: [] });
  }
  return readModelsIn(readModels);
};

describe('read your writes, across processes', () => {
  it('waits for every read model in a query', async () => {
    const all = await readModelsAt(at(5));
    expect(await readModelsApplied(all, own, silent).waitFor(at(5), 10)).toBe(true);
    const [first] = projections;
    const lagging = await readModelsAt(at(5), { [first?.name ?? '']: at(4) });
    expect(await readModelsApplied(lagging, own, silent).waitFor(at(5), 10)).toBe(false);
    expect(await readModelsApplied(lagging, own, silent).waitFor(at(4), 10)).toBe(true);
  });

  it('holds no position while a read model has not been started', async () => {
    const empty = new InMemoryReadModels();
    for (const { schema } of projections) await empty.register(schema);
    expect(await readModelsApplied(readModelsIn(empty), own, silent).waitFor(at(1), 10)).toBe(false);
  });

  it('waits in a command for every live process too, until it has applied the position or is gone', async () => {
    const registry = new Registry();
    const applied = appliedEverywhere(await readModelsAt(at(9)), registry, own, silent);
    await registry.report(report('a', at(9)));
    await registry.report(report('b', at(8)));
    expect(await applied.waitFor(at(9), 10)).toBe(false);
    const waiting = applied.waitFor(at(9), 5_000);
    await registry.report(report('b', at(9)));
    expect(await waiting).toBe(true);
    await registry.report(report('c', at(1)));
    const gone = applied.waitFor(at(9), 5_000);
    await registry.leave('c');
    expect(await gone).toBe(true);
  });

  it('waits for this process first', async () => {
    const late = { waitFor: async (): Promise<boolean> => false };
    expect(await readModelsApplied(await readModelsAt(at(9)), late, silent).waitFor(at(1), 10)).toBe(false);
  });

  it('resolves with false when the others cannot be asked, and logs why', async () => {
    const registry = new Registry();
    registry.failure = new Error('MongoDB is away');
    const heard: unknown[] = [];
    const applied = appliedEverywhere(await readModelsAt(at(9)), registry, own, logging(heard));
    expect(await applied.waitFor(at(9), 10)).toBe(false);
    expect(heard).toEqual([[{ err: registry.failure }, 'read_models.unknown']]);
    const waiting = applied.waitFor(at(9), 5_000);
    registry.failure = undefined;
    expect(await waiting).toBe(true);
  });
});

it('the highest position of the live processes stands for the end of the log', async () => {
  expect(highestOf([report('a', at(3)), report('b', at(7)), report('c', at(5))])).toBe(at(7));
  expect(highestOf([])).toBe(positionOf(0));
});

describe('the report of a process', () => {
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
  };

  it('has the position of its slowest reader and the sum of its work, and is removed on close', async () => {
    const registry = new Registry();
    const reporter = new ProcessReporter(registry, 'p', 'router', noFailure);
    let position = at(3);
    reporter.follows(() => position);
    reporter.follows(() => at(7));
    reporter.worksOff(() => 2);
    reporter.worksOff(() => 40);
    reporter.start();
    await until(() => registry.told.length > 0);
    const uptimeMs: unknown = expect.any(Number);
    const expected = { id: 'p', role: 'router', position: at(3), backlog: 42, uptimeMs };
    expect(registry.told[0]).toEqual(expected);
    position = at(9);
    reporter.moved();
    await until(() => registry.told.at(-1)?.position === at(7));
    await reporter.close();
    await reporter.close();
    expect(await registry.live()).toEqual([]);
  });

  it('tells since when commands wait for the process: its first report after a pause', async () => {
    const registry = new Registry();
    const reporter = new ProcessReporter(registry, 'p', 'router', () => undefined);
    let position = at(1);
    reporter.follows(() => position);
    expect(reporter.awaitedSince()).toBeUndefined();
    const startedAt = performance.now();
    reporter.start();
    await until(() => reporter.awaitedSince() !== undefined);
    const first = reporter.awaitedSince() ?? 0;
    expect(first).toBeGreaterThan(startedAt);
    position = at(2);
    await until(() => registry.told.length > 1);
    expect(reporter.awaitedSince()).toBe(first);
    registry.failure = new Error('away');
    await until(() => reporter.awaitedSince() === undefined);
    registry.failure = undefined;
    await until(() => reporter.awaitedSince() !== undefined);
    expect(reporter.awaitedSince()).toBeGreaterThan(first);
    await reporter.close();
  });

  it('continues after the registry was unavailable', async () => {
    const registry = new Registry();
    const failures: Error[] = [];
    const reporter = new ProcessReporter(registry, 'p', 'router', (error) => failures.push(error));
    let position = at(1);
    reporter.follows(() => position);
    reporter.start();
    await until(() => registry.told.length > 0);
    registry.failure = new Error('away');
    position = at(2);
    await until(() => failures.length > 0);
    registry.failure = undefined;
    await until(() => registry.told.at(-1)?.position === at(2));
    await reporter.close();
  });
});

describe('the backlog of an installation', () => {
  it('is read only while someone asks for it', async () => {
    const registry = new Registry();
    await registry.report(report('r', at(1), 'runner', { sources: { dc_a: 300 }, workspaces: {} }));
    let reads = 0;
    const counted: ProcessRegistry = {
      report: (each) => registry.report(each),
      live: () => (reads++, registry.live()),
      registered: () => registry.registered(),
      leave: (id) => registry.leave(id),
    };
    const backlog = new ClusterBacklog(counted, noFailure);
    backlog.start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads).toBe(0);
    while (backlog.waitingFor('dc_a') === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(reads).toBe(1);
    backlog.close();
  });

  it('is summed by source, and averaged per live runner by workspace', async () => {
    const registry = new Registry();
    const told = (sources: Record<string, number>, o_1: number): Pressure => ({
      sources,
      workspaces: { o_1 },
      sourcesOf: { o_1: 8 },
    });
    await registry.report(report('r1', at(1), 'runner', told({ dc_a: 300, dc_b: 200 }, 500)));
    await registry.report(report('r2', at(1), 'runner'));
    await registry.report(report('e', at(1), 'router', told({ dc_a: 40 }, 40)));
    await registry.report(report('w', at(1), 'webhook-worker', told({ dc_a: 2 }, 2)));
    const backlog = new ClusterBacklog(registry, noFailure);
    backlog.start();
    while (backlog.ofSource('dc_a') === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    backlog.close();
    const seen = (id: string) => [backlog.ofSource(id), backlog.waitingFor(id), backlog.unroutedOf(id)];
    expect([seen('dc_a'), seen('dc_b'), seen('dc_c')]).toEqual([
      [342, 300, 40],
      [200, 200, 0],
      [0, 0, 0],
    ]);
    expect([backlog.ofWorkspace('o_1'), backlog.ofWorkspace('o_2')]).toEqual([271, 0]);
    // The records of one runner of two.
    expect([backlog.sourcesOf('o_1'), backlog.sourcesOf('o_2')]).toEqual([4, 0]);
    expect(['runner', 'scheduler'].map((role) => backlog.isAlive(role))).toEqual([true, false]);
  });
});

describe('the reported pressure', () => {
  it('names only sources and workspaces with many records', () => {
    const counts = {
      bySource: () => Object.entries({ dc_a: 512, dc_b: 127 }),
      byWorkspace: () => Object.entries({ o_1: 639, o_2: 3 }),
      sourcesOf: () => 7,
    };
    expect(pressureOf(counts, (id) => (id === 'dc_a' ? 90_000 : 0))).toEqual({
      sources: { dc_a: 90_000 },
      workspaces: { o_1: 639 },
      sourcesOf: { o_1: 7 },
    });
    // A consumer receives few records where they are large.
    expect(pressureOf(counts, () => 1_000)?.sources).toEqual({ dc_a: 1_000, dc_b: 1_000 });
    expect(pressureOf({ bySource: () => [], byWorkspace: () => [['o_1', 5]] })).toBeUndefined();
  });
});
