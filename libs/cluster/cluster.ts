import { pause, WakeablePause } from '#libs/async/pause.js';
import { START, type Position } from '#libs/kernel/events.js';
import { type WorkInFlight } from '#libs/ingress/pressure-gate.js';
import { type Pressure, type ProcessRegistry, type ProcessReport, SILENCE_MS } from '#libs/kernel/process-registry.js';
import { type CollectionSchema, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { type Logger } from '#libs/telemetry/index.js';
import { pollUntil } from './poll-until.js';
import { asError } from '#libs/kernel/error-message.js';

/** State that the processes of an installation share about each other (docs/adr/0011). */

/** A store and the read models in it. */
export interface ReadModels {
  readonly store: ReadModelStore;
  readonly schemas: readonly CollectionSchema[];
}

const readModelsHold = async ({ store, schemas }: ReadModels, position: Position): Promise<boolean> =>
  (await store.checkpoints(schemas)).every((checkpoint) => checkpoint !== null && checkpoint >= position);

const processesHold = async (registry: ProcessRegistry, position: Position): Promise<boolean> =>
  (await registry.live()).every((process) => process.position >= position);

/** The highest position that one of these processes has reached. */
export const highestOf = (live: readonly ProcessReport[]): Position =>
  live.reduce((highest, { position }) => (position > highest ? position : highest), START);

/** For queries: waits until the read models and this process's tables have reached the position. */
export const readModelsApplied = (
  readModels: ReadModels,
  own: ReadYourWrites,
  logger: Pick<Logger, 'warn'>,
): ReadYourWrites => ownThenPolled(own, (position) => readModelsHold(readModels, position), logger);

/**
 * For commands: waits until every live process has applied the position too. An event that is sent after the answer
 * about a new subscription is routed to its listener by whichever process receives it.
 */
export const appliedEverywhere = (
  readModels: ReadModels,
  registry: ProcessRegistry,
  own: ReadYourWrites,
  logger: Pick<Logger, 'warn'>,
): ReadYourWrites => {
  const holds = async (position: Position): Promise<boolean> =>
    (await readModelsHold(readModels, position)) && (await processesHold(registry, position));
  return ownThenPolled(own, holds, logger);
};

/** Waits for this process's tables, then polls until the others have reached the position, within one time limit. */
const ownThenPolled = (
  own: ReadYourWrites,
  holds: (position: Position) => Promise<boolean>,
  logger: Pick<Logger, 'warn'>,
): ReadYourWrites => ({
  async waitFor(position, timeoutMs) {
    const until = performance.now() + timeoutMs;
    if (!(await own.waitFor(position, timeoutMs))) return false;
    return pollUntil(() => holds(position), until - performance.now(), logger);
  },
});

const LOOK_MS = 20;
/** After a step of one reader the others follow soon. For this long the progress of all is checked often. */
const MOVING_MS = 3_000;
const BEAT_MS = 500;
/** Interval of signs of life while no work is in flight. */
const QUIET_BEAT_MS = 1_000;
/**
 * Others consider a process gone after SILENCE_MS. It cannot know when they last read its report, so it assumes a
 * shorter time.
 */
const TRUSTED_MS = SILENCE_MS - 1_000;
/** Pause after a report, as a multiple of its duration. It keeps frequent steps from overloading a slow engine. */
const REPORT_SHARE = 4;

/** Reports the position of this process to the others soon after each step, and regularly as a sign of life. */
export class ProcessReporter {
  private readonly positions: (() => Position)[] = [];
  private readonly backlogs: (() => number)[] = [];
  private pressure: () => Pressure | undefined = () => undefined;
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private told: { readonly report: ProcessReport; readonly at: number } | undefined;
  /** Process uptime from which on the reports were written without a long pause. */
  private unbrokenSince = 0;
  private movedAt = performance.now();
  private readonly pause = new WakeablePause();

  constructor(
    private readonly registry: ProcessRegistry,
    private readonly id: string,
    private readonly role: string,
    private readonly onFailure: (error: Error) => void,
  ) {}

  /** Adds a reader of the event log in this process. */
  follows(position: () => Position): void {
    this.positions.push(position);
  }

  /** Adds work in flight of this process, and the sources and workspaces that own it. */
  worksOff(backlog: () => number, pressure?: () => Pressure | undefined): void {
    this.backlogs.push(backlog);
    if (pressure) this.pressure = pressure;
  }

  /** Call it when a reader of the event log advanced, so that the other processes see it at once. */
  moved(): void {
    this.movedAt = performance.now();
    this.pause.wake();
  }

  start(): void {
    this.running = this.run();
  }

  /**
   * Process uptime from which on every command waits for this process. Undefined while a command may consider it gone.
   */
  awaitedSince(): number | undefined {
    return this.told && performance.now() - this.told.at < TRUSTED_MS ? this.unbrokenSince : undefined;
  }

  /** Idempotent. If the registry is unreachable, the process's entry expires. */
  async close(): Promise<void> {
    if (this.abort.signal.aborted) return;
    this.abort.abort();
    this.pause.wake();
    await this.running;
    await this.registry.leave(this.id);
  }

  private async run(): Promise<void> {
    const { signal } = this.abort;
    let pauseMs = LOOK_MS;
    for (;;) {
      await pause(pauseMs, signal);
      if (signal.aborted) return;
      try {
        pauseMs = Math.max(LOOK_MS, REPORT_SHARE * (await this.report()));
        const now = performance.now();
        if (now - this.movedAt <= MOVING_MS) continue;
        // New work makes the next sign of life due earlier.
        await this.pause.wait(Math.min(BEAT_MS, this.untilBeat()));
        pauseMs -= performance.now() - now;
      } catch (error) {
        pauseMs = BEAT_MS;
        this.onFailure(asError(error));
      }
    }
  }

  /** Reports progress, or a sign of life that is due. Returns the duration in milliseconds. */
  private async report(): Promise<number> {
    const position = this.position();
    const now = performance.now();
    if (this.told?.report.position === position && this.untilBeat() > 0) return 0;
    const report = this.reportAt(position);
    await this.registry.report(report);
    const reportedAt = performance.now();
    if (!this.told || reportedAt - this.told.at > TRUSTED_MS) this.unbrokenSince = reportedAt;
    this.told = { report, at: now };
    return reportedAt - now;
  }

  private untilBeat(): number {
    if (!this.told) return 0;
    const { report, at } = this.told;
    const isQuiet = report.backlog === 0 && this.backlog() === 0;
    return Math.max(0, at + (isQuiet ? QUIET_BEAT_MS : BEAT_MS) - performance.now());
  }

  private backlog(): number {
    return this.backlogs.reduce((sum, read) => sum + read(), 0);
  }

  private position(): Position {
    return this.positions.map((read) => read()).reduce((lowest, each) => (each < lowest ? each : lowest));
  }

  private reportAt(position: Position): ProcessReport {
    const pressure = this.pressure();
    const backlog = this.backlog();
    const { id, role } = this;
    const uptimeMs = performance.now();
    return { id, role, position, backlog, uptimeMs, ...(pressure ? { pressure } : {}) };
  }
}

/** Interval at which the backlog of all processes is read while it is in use. */
const BACKLOG_MS = 250;
/** After this long without a call the backlog is no longer read, and the last reading no longer counts. */
const ASKED_MS = 2_000;

/** Records by id, summed over processes. */
type Sums = Map<string, number>;

/**
 * Work in flight in all processes, as of a moment ago. Ingress, routers and runners use it for back-pressure. The
 * reports are read only while events pass and it is in use, so the first call returns 0.
 */
export class ClusterBacklog implements WorkInFlight {
  private readonly abort = new AbortController();
  private readonly pause = new WakeablePause();
  private askedAt = -Infinity;
  private runners = 1;
  private sources: Sums = new Map();
  private inWorkspaces: Sums = new Map();
  /** Sources with records at a runner, by workspace. */
  private busy: Sums = new Map();
  private roles: ReadonlySet<string> = new Set();
  /** Sums by source, per role of the reporting process. */
  private byRole = new Map<string, Sums>();

  constructor(
    private readonly registry: ProcessRegistry,
    private readonly onFailure: (error: Error) => void,
  ) {}

  start(): void {
    void this.run();
  }

  ofSource(sourceId: string): number {
    this.asked();
    return this.sources.get(sourceId) ?? 0;
  }

  /** Average per live runner. */
  ofWorkspace(workspaceId: string): number {
    this.asked();
    return (this.inWorkspaces.get(workspaceId) ?? 0) / this.runners;
  }

  /** Invocations that wait for a source. */
  waitingFor(sourceId: string): number {
    this.asked();
    return this.byRole.get('runner')?.get(sourceId) ?? 0;
  }

  /** Emits of a source that are not yet routed. */
  unroutedOf(sourceId: string): number {
    this.asked();
    return this.byRole.get('router')?.get(sourceId) ?? 0;
  }

  /** Average per live runner. */
  sourcesOf(workspaceId: string): number {
    return (this.busy.get(workspaceId) ?? 0) / this.runners;
  }

  /** Always 0, because the events that this process stores wait for the engine's disk. */
  queuedBytes(): number {
    return 0;
  }

  /** Whether a process of this app was alive a moment ago. */
  isAlive(role: string): boolean {
    return this.roles.has(role);
  }

  close(): void {
    this.abort.abort();
    this.pause.wake();
  }

  private asked(): void {
    const now = performance.now();
    if (now - this.askedAt > ASKED_MS) {
      this.forget();
      this.pause.wake();
    }
    this.askedAt = now;
  }

  private forget(): void {
    this.sources = new Map();
    this.inWorkspaces = new Map();
    this.byRole = new Map();
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    const { signal } = this.abort;
    while (!signal.aborted) {
      if (performance.now() - this.askedAt > ASKED_MS) await this.pause.wait();
      if (signal.aborted) return;
      await this.look().catch((error: unknown) => this.onFailure(asError(error)));
      await pause(BACKLOG_MS, signal);
    }
  }

  private async look(): Promise<void> {
    const live = await this.registry.live();
    const sources: Sums = new Map();
    const workspaces: Sums = new Map();
    const busy: Sums = new Map();
    const byRole = new Map<string, Sums>();
    for (const { role, pressure } of live) {
      if (!pressure) continue;
      const ofRole = byRole.get(role) ?? new Map<string, number>();
      byRole.set(role, ofRole);
      add(pressure.sources, sources, ofRole);
      add(pressure.workspaces, workspaces);
      if (role === 'runner' && pressure.sourcesOf) add(pressure.sourcesOf, busy);
    }
    this.runners = Math.max(1, live.filter(({ role }) => role === 'runner').length);
    this.sources = sources;
    this.inWorkspaces = workspaces;
    this.busy = busy;
    this.roles = new Set(live.map(({ role }) => role));
    this.byRole = byRole;
  }
}

const add = (counts: Readonly<Record<string, number>>, ...sums: readonly Sums[]): void => {
  for (const [id, records] of Object.entries(counts)) {
    for (const sum of sums) sum.set(id, (sum.get(id) ?? 0) + records);
  }
};
