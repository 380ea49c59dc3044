import { pause } from '#libs/async/pause.js';
import { type Admission } from './admission.js';
import { type WorkInFlight } from './pressure-gate.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';

/** Reports of the processes on their work. */
export interface ReportedBacklog extends WorkInFlight {
  /** Emits of a source that are not yet routed. */
  unroutedOf(sourceId: string): number;
  /** Whether a process of this app is alive. */
  isAlive(role: string): boolean;
}

export interface LoggedBacklogOptions {
  readonly reported: ReportedBacklog;
  readonly log: Pick<StreamLog, 'lag' | 'laneOf'>;
  readonly topics: TopicPolicy;
  /** The groups whose lag counts. Default: all. */
  readonly groups?: readonly LoggedGroup[];
  readonly onFailure: (error: unknown) => void;
}

/** Stored events of a source, and its records in the log. */
interface Stored {
  /** Events stored by this process since the last reading. */
  since: number;
  /** Unfinished records of the runners and of the router at the last reading. */
  lag: number;
  /** Consecutive readings that did not find its lanes. */
  untold: number;
}

const LOOK_MS = 1_000;
/** Number of records of a source from which the log is read for it. */
const WORTH_LOOKING = 32;
const MOST_UNTOLD = 60;
/** Records of a lane that its owner may have finished and not committed, because it finishes them in any order. */
const UNCOMMITTED = 2_048;

/** A consumer group between an arrival and its listeners. It has the name of its app. */
export type LoggedGroup = 'runner' | 'router';

const TOPICS = {
  runner: (topics: TopicPolicy, sourceId: string) => topics.invocations(sourceId),
  router: (topics: TopicPolicy, sourceId: string) => topics.emits(sourceId),
} as const;

/**
 * Work in flight as the processes report it, or as the log shows it for lanes without an owner, because no runner or
 * router is alive or none has claimed them. So an ingress cannot fill the log without limit. The log is read once a
 * second, for the sources with many events from this process.
 */
export class LoggedBacklog implements WorkInFlight {
  private readonly stored = new Map<string, Stored>();
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: LoggedBacklogOptions) {}

  /** Counts the events that this process stores. */
  readonly counting: Admission = {
    enter: () => true,
    left: ({ sourceId }) => this.stores(sourceId),
  };

  /** Counts an event of a source. */
  stores(sourceId: string): void {
    this.count(sourceId, 1);
  }

  start(): void {
    this.running = this.run();
  }

  async close(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  ofSource(sourceId: string): number {
    const { reported } = this.options;
    const known = this.stored.get(sourceId);
    if (!known) return reported.ofSource(sourceId);
    // A runner may have finished events that arrived since the last reading.
    const logged = known.lag + (reported.isAlive('runner') ? 0 : known.since);
    return Math.max(reported.ofSource(sourceId), logged);
  }

  /**
   * Emits of a source that are not yet routed. While no router is alive, the number comes from the log, from the second
   * call on. A caller that waits for a lower number calls repeatedly.
   */
  unroutedOf(sourceId: string): number {
    const { reported } = this.options;
    const told = reported.unroutedOf(sourceId);
    if (reported.isAlive('router')) return told;
    this.count(sourceId, WORTH_LOOKING);
    return Math.max(told, this.stored.get(sourceId)?.lag ?? 0);
  }

  ofWorkspace(workspaceId: string): number {
    return this.options.reported.ofWorkspace(workspaceId);
  }

  sourcesOf(workspaceId: string): number {
    return this.options.reported.sourcesOf(workspaceId);
  }

  queuedBytes(): number {
    return this.options.reported.queuedBytes();
  }

  /** Reads the log once. */
  async look(): Promise<void> {
    const worth = [...this.stored].filter(([, { since, lag }]) => since + lag >= WORTH_LOOKING);
    if (worth.length === 0) return;
    const ids = worth.map(([id]) => id);
    const before = worth.map(([, { since }]) => since);
    const { groups = ['runner', 'router'] } = this.options;
    const lags = await Promise.all(groups.map((group) => this.lagsOf(group, ids)));
    worth.forEach(([id, stored], i) => {
      const found = lags.map((lagOf) => lagOf(id)).filter((lag) => lag !== undefined);
      if (found.length < lags.length) {
        // No broker answered, so the last numbers remain, or the source is deleted.
        if (++stored.untold > MOST_UNTOLD) this.stored.delete(id);
        return;
      }
      stored.untold = 0;
      stored.since -= before[i] ?? 0;
      stored.lag = found.reduce((sum, lag) => sum + lag, 0);
      if (stored.since === 0 && stored.lag === 0) this.stored.delete(id);
    });
  }

  private count(sourceId: string, events: number): void {
    const known = this.stored.get(sourceId);
    if (known) known.since += events;
    else this.stored.set(sourceId, { since: events, lag: 0, untold: 0 });
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    const { signal } = this.abort;
    for (;;) {
      await pause(LOOK_MS, signal);
      if (signal.aborted) return;
      await this.look().catch((error: unknown) => this.options.onFailure(error));
    }
  }

  /** Unfinished records of a source for a group. Sources that share a lane share its records. */
  private async lagsOf(group: LoggedGroup, ids: readonly string[]): Promise<(sourceId: string) => number | undefined> {
    const { log, topics, reported } = this.options;
    const topicOf = TOPICS[group];
    const lanes = new Map<string, string>();
    const sharing = new Map<string, number>();
    for (const id of ids) {
      const topic = topicOf(topics, id);
      // A topic of a single source has one partition with the topic's name.
      const lane = topics.ownedBy(id).length > 0 ? topic : await log.laneOf(topic, id);
      lanes.set(id, lane);
      sharing.set(lane, (sharing.get(lane) ?? 0) + 1);
    }
    const names = [...new Set(ids.map((id) => topicOf(topics, id)))];
    const lag = await log.lag(group, { names });
    const done = reported.isAlive(group) ? UNCOMMITTED : 0;
    return (sourceId) => {
      const lane = lanes.get(sourceId) ?? '';
      const found = lag[lane];
      return found === undefined ? undefined : Math.max(0, Math.floor((found - done) / (sharing.get(lane) ?? 1)));
    };
  }
}
