import { expect } from '@jest/globals';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { NO_HOST_DEATHS } from '../../host-deaths.js';
import { replyOf, type RunOutcome, type SandboxSpec } from '#libs/sandbox/index.js';
import { type Invocation } from '../../invocation.js';
import { type LogFollower, type Sandboxes, type SourceRunnerDependencies } from '../../runner-ports.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { SourceRunner } from '../source-runner.js';
import { FakeSandbox, type Script } from './fake-sandbox.js';
import { InMemoryJournal } from '../../testing/in-memory-journal.js';

export const definition = (over: Partial<SourceDefinition> = {}): SourceDefinition => ({
  componentId: 'sc_1',
  componentKey: null,
  bundleHash: 'hash',
  props: [],
  hooks: [],
  dedupe: null,
  emitOnDeploy: true,
  ...over,
});

export const until = async (condition: () => boolean): Promise<void> => {
  for (let i = 0; i < 1_000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(condition()).toBe(true);
};

export const invocationHeaders = (id: string, over: Partial<InvocationHeaders> = {}): InvocationHeaders => ({
  id,
  kind: 'http',
  source: 'dc_1',
  workspace: 'o_1',
  at: '1',
  hops: '0',
  prop: 'http',
  respond: '',
  ...over,
});

/** Fake sandboxes that follow one script. */
export class FakeSandboxes implements Sandboxes {
  /** All sandboxes so far, in start order. */
  readonly started: FakeSandbox[] = [];
  private readonly living = new Map<string, FakeSandbox>();

  constructor(
    private readonly script: Script,
    private readonly loadError?: Error,
  ) {}

  async acquire(sourceId: string, _workspaceId: string, spec: () => Promise<SandboxSpec>): Promise<FakeSandbox> {
    const known = this.living.get(sourceId);
    if (known?.alive()) return known;
    const made = await spec();
    if (this.loadError) throw this.loadError;
    const sandbox = new FakeSandbox(made, this.script);
    this.started.push(sandbox);
    this.living.set(sourceId, sandbox);
    return sandbox;
  }

  async drop(sourceId: string): Promise<void> {
    await this.living.get(sourceId)?.stop();
    this.living.delete(sourceId);
  }

  /** Ids of the invocations that all sandboxes started. */
  runs(): readonly string[] {
    return this.started.flatMap(({ started }) => started);
  }
}

/** Dependencies of a runner that these specs do not observe. */
export const quietDependencies = {
  topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
  packages: () => Promise.reject(new Error('no packages')),
  blobs: { fileOf: async (hash: string) => `/blobs/${hash}` },
  binder: { versionOf: () => '', freshen: () => undefined, bind: async () => ({}) },
  delayed: { usage: async () => ({ count: 0, bytes: 0 }) },
  hostDeaths: NO_HOST_DEATHS,
  settings: { concurrency: 10, httpTimeoutMs: 1_000, timerTimeoutMs: 2_000, hookTimeoutMs: 3_000, window: 64 },
  metrics: {
    run: () => undefined,
    emits: () => undefined,
    duplicates: () => undefined,
    platformFailure: () => undefined,
  },
} as const;

/** Fake follower of the event log. `upToDate` applies the functions in `ahead`. */
export class FakeFollower implements LogFollower {
  readonly ahead: (() => void)[] = [];
  position = '';
  async waitFor(position: string): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return this.position >= position;
  }
  async upToDate(): Promise<void> {
    for (const apply of this.ahead.splice(0)) apply();
  }
}

interface SourceWorldOptions extends Script {
  readonly journal?: InMemoryJournal;
  readonly loadError?: Error;
}

/** One source `dc_1` whose lane the spec controls. */
export const sourceWorld = (options: SourceWorldOptions = {}) => {
  const journal = options.journal ?? new InMemoryJournal();
  const sandboxes = new FakeSandboxes(options, options.loadError);
  const follower = new FakeFollower();
  const replies: [string, HttpReply][] = [];
  const outcomes: [string, RunOutcome][] = [];
  const acked: number[] = [];
  const conflicts: number[][] = [];
  const logged: string[] = [];
  const log = (_: object, message: string) => void logged.push(message);
  const world = { definition: definition() as SourceDefinition | undefined, now: 1_000 };
  const deps: SourceRunnerDependencies = {
    ...quietDependencies,
    journal,
    sandboxes,
    follower,
    sources: { find: () => (world.definition ? { workspaceId: 'o_1', definition: world.definition } : undefined) },
    replies: {
      immediate: (_address, id, reply) => replies.push([id, reply]),
      ended(_address, id, outcome, awaited) {
        if (awaited === 'reply') replies.push([id, replyOf(outcome, id)]);
        else outcomes.push([id, outcome]);
      },
    },
    clock: { now: () => world.now },
    logger: { isLevelEnabled: () => false, debug: log, info: log, warn: log, error: log },
  };
  const load = (): Promise<SourceRunner> =>
    SourceRunner.load('dc_1', deps, (unfinished) => conflicts.push(unfinished.map(({ record }) => record.offset)));
  const invocation = (offset: number, over: Partial<InvocationHeaders> = {}, value?: string): Invocation => {
    const headers = invocationHeaders(`inv_${offset}`, over);
    const place = { topic: 't', lane: 't', key: 'dc_1', offset, timestamp: 1 };
    const text = value ?? `{"n":${offset}}`;
    const record = { ...place, headers, value: text, size: text.length };
    return { record, headers, ack: () => acked.push(offset), revoked: () => false };
  };
  return {
    deps,
    world,
    journal,
    sandboxes: sandboxes.started,
    follower,
    upToDate: follower.ahead,
    replies,
    outcomes,
    acked,
    conflicts,
    logged,
    invocation,
    load,
  };
};
