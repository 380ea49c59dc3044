import { expect } from '@jest/globals';
import { type SourceDefinition } from '../../sources/published.js';
import { type InvocationHeaders } from '../../stream-log/envelopes.js';
import { perEmitterTopics } from '../../stream-log/topics.js';
import { replyOf } from '../reply-of.js';
import { type Invocation } from '../run-commit.js';
import { type SourceRunnerDependencies } from '../runner-ports.js';
import {
  type HttpReply,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
} from '../sandbox.js';
import { SourceRunner } from '../source-runner.js';
import { InMemoryJournal } from './in-memory-journal.js';

export const definition = (over: Partial<SourceDefinition> = {}): SourceDefinition => ({
  componentId: 'sc_1',
  componentKey: null,
  bundleHash: 'hash',
  values: {},
  endpoints: [],
  timers: [],
  dbProps: [],
  appProps: [],
  hooks: [],
  dedupe: null,
  emitOnDeploy: true,
  ...over,
});

export const ok = (over: Partial<RunOutcome> = {}): RunOutcome => ({
  status: 'ok',
  emits: [],
  logs: [],
  dbChanges: {},
  startedAt: 1,
  endedAt: 2,
  ...over,
});

/** A process whose runs end when the test says so, unless `auto`. */
export class FakeSandbox implements Sandbox {
  readonly started: string[] = [];
  readonly pending = new Map<
    string,
    { resolve: (outcome: RunOutcome) => void; reject: (error: Error) => void; request: RunRequest }
  >();
  private living = true;
  constructor(
    readonly spec: SandboxSpec,
    private readonly auto: ((request: RunRequest) => RunOutcome) | undefined,
  ) {}
  run(request: RunRequest): Promise<RunOutcome> {
    this.started.push(request.invocationId);
    if (this.auto) return Promise.resolve(this.auto(request));
    return new Promise((resolve, reject) => this.pending.set(request.invocationId, { resolve, reject, request }));
  }
  async hook(): Promise<RunOutcome> {
    return ok({ emits: [{ payload: '"hook"', channel: '' }], dbChanges: { hook: '1' } });
  }
  alive(): boolean {
    return this.living;
  }
  end(id: string, outcome = ok()): void {
    this.pending.get(id)?.resolve(outcome);
    this.pending.delete(id);
  }
  die(): void {
    this.living = false;
    for (const { reject } of this.pending.values()) reject(new SandboxGone('dc_1', 'killed'));
    this.pending.clear();
  }
  /** What runs counts as killed, as the port says. */
  async stop(): Promise<void> {
    this.living = false;
    for (const { resolve } of this.pending.values()) resolve(ok({ status: 'killed' }));
    this.pending.clear();
  }
}

export const sourceWorld = (
  options: { auto?: (request: RunRequest) => RunOutcome; journal?: InMemoryJournal; loadError?: Error } = {},
) => {
  const journal = options.journal ?? new InMemoryJournal();
  const sandboxes: FakeSandbox[] = [];
  const replies: [string, HttpReply][] = [];
  const acked: number[] = [];
  const conflicts: number[][] = [];
  const upToDate: (() => void)[] = [];
  const world = { definition: definition() as SourceDefinition | undefined };
  const deps: SourceRunnerDependencies = {
    topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
    journal,
    blobs: { fileOf: async (hash: string) => `/blobs/${hash}` },
    sources: { find: () => (world.definition ? { workspaceId: 'o_1', definition: world.definition } : undefined) },
    follower: {
      waitFor: async () => true,
      upToDate: async () => {
        for (const apply of upToDate.splice(0)) apply();
      },
    },
    sandboxes: {
      acquire: async (_id: string, spec: () => Promise<SandboxSpec>) => {
        const last = sandboxes.at(-1);
        if (last?.alive()) return last;
        const made = await spec();
        if (options.loadError) throw options.loadError;
        const sandbox = new FakeSandbox(made, options.auto);
        sandboxes.push(sandbox);
        return sandbox;
      },
      drop: async () => sandboxes.at(-1)?.stop(),
    },
    binder: { bind: async () => ({}) },
    replies: {
      immediate: (_address: string, id: string, reply: HttpReply) => replies.push([id, reply]),
      ended: (_address: string, id: string, outcome: RunOutcome) => replies.push([id, replyOf(outcome)]),
    },
    settings: { concurrency: 10, httpTimeoutMs: 1, timerTimeoutMs: 2, hookTimeoutMs: 3, window: 64 },
    clock: { now: () => 1_000 },
    metrics: {
      run: () => undefined,
      emits: () => undefined,
      duplicates: () => undefined,
      platformFailure: () => undefined,
    },
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
  const load = (): Promise<SourceRunner> =>
    SourceRunner.load('dc_1', deps, (unfinished) => conflicts.push(unfinished.map(({ record }) => record.offset)));
  const invocation = (offset: number, over: Partial<InvocationHeaders> = {}): Invocation => {
    const headers = {
      id: `inv_${offset}`,
      kind: 'http',
      source: 'dc_1',
      workspace: 'o_1',
      at: '1',
      hops: '0',
      prop: 'http',
      respond: '',
      ...over,
    } as InvocationHeaders;
    const record = { topic: 't', lane: 't', key: 'dc_1', headers, value: `{"n":${offset}}`, offset, timestamp: 1 };
    return { record, headers, ack: () => acked.push(offset), revoked: () => false };
  };
  return { deps, journal, sandboxes, replies, acked, conflicts, upToDate, world, invocation, load };
};

export const until = async (condition: () => boolean): Promise<void> => {
  for (let i = 0; i < 500 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(condition()).toBe(true);
};
