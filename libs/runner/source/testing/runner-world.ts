import { type Position, START } from '#libs/kernel/events.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Replies } from '../../runner-ports.js';
import { type Runner, startRunner } from '../runner.js';
import { type Script } from './fake-sandbox.js';
import { InMemoryJournal } from '../../testing/in-memory-journal.js';
import { definition, FakeFollower, FakeSandboxes, invocationHeaders, quietDependencies } from './source-world.js';

export interface RunnerProcess {
  readonly runner: Runner;
  readonly sandboxes: FakeSandboxes;
  /** Sources that this process knows; by default those of the world. */
  readonly known: Map<string, SourceDefinition>;
  readonly follower: FakeFollower;
  readonly logged: string[];
}

interface ProcessOptions extends Script {
  readonly isPaused?: (sourceId: string) => boolean;
  readonly replies?: Replies;
  /** True when the process knows no source until its follower is up to date. */
  readonly behind?: boolean;
}

const NOBODY: Replies = { immediate: () => undefined, ended: () => undefined };

/** Runners as processes of one installation that share only the log and the journal. */
export class RunnerWorld {
  readonly log = new InMemoryStreamLog();
  readonly journal = new InMemoryJournal(this.log);
  private readonly sources = new Map<string, SourceDefinition>();
  private readonly runners: Runner[] = [];
  readonly events = { lastPosition: async (): Promise<Position> => START };

  constructor(readonly topics: TopicPolicy = quietDependencies.topics) {}

  async source(id: string, over: Partial<SourceDefinition> = {}): Promise<void> {
    this.sources.set(id, definition(over));
    await this.log.createTopic(this.topics.invocations(id));
    await this.log.createTopic(this.topics.emits(id));
  }

  async process(options: ProcessOptions = {}): Promise<RunnerProcess> {
    const known = new Map(options.behind ? [] : this.sources);
    const follower = new FakeFollower();
    follower.ahead.push(() => [...this.sources].forEach(([id, each]) => known.set(id, each)));
    const sandboxes = new FakeSandboxes(options);
    const logged: string[] = [];
    const say = (_: object, message: string): number => logged.push(message);
    const find = (id: string) => {
      const found = known.get(id);
      return found && { workspaceId: 'o_1', definition: found };
    };
    const runner = await startRunner({
      ...quietDependencies,
      log: this.log,
      handedOver: new HandedOver(Infinity),
      topics: this.topics,
      journal: this.journal,
      sandboxes,
      follower,
      replies: options.replies ?? NOBODY,
      ...(options.isPaused === undefined ? {} : { isPaused: options.isPaused }),
      sources: { find },
      clock: { now: () => Date.now() },
      logger: { isLevelEnabled: () => false, debug: say, info: say, warn: say, error: say },
    });
    this.runners.push(runner);
    return { runner, sandboxes, known, follower, logged };
  }

  async invoke(sourceId: string, ids: readonly string[], over: Partial<InvocationHeaders> = {}): Promise<void> {
    const topic = this.topics.invocations(sourceId);
    const headersOf = (id: string) => invocationHeaders(id, { source: sourceId, ...over });
    await this.log.publish(ids.map((id) => ({ topic, key: sourceId, headers: headersOf(id), value: `"${id}"` })));
  }

  /** Number of unacknowledged invocations. */
  open(sourceId: string): number {
    return this.log.uncommitted('runner', this.topics.invocations(sourceId));
  }

  /** Payloads of the source's events. */
  emitted(sourceId: string): readonly string[] {
    const records = this.log.recordsOf(this.topics.emits(sourceId));
    const isOwn = ({ kind, emitter }: LogRecord['headers']): boolean => kind === 'emit' && emitter === sourceId;
    return records.filter(({ headers }) => isOwn(headers)).map(({ value }) => value);
  }

  async close(): Promise<void> {
    await Promise.all(this.runners.map((runner) => runner.close(1)));
  }
}
