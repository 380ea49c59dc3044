import { describe, expect, it } from '@jest/globals';
import { type SourceDefinition } from '../sources/published.js';
import { type InvocationHeaders } from '../stream-log/envelopes.js';
import { perEmitterTopics } from '../stream-log/topics.js';
import { type Invocation } from './run-commit.js';
import { replyOf } from './reply-of.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import {
  type HttpReply,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
} from './sandbox.js';
import { SourceRunner } from './source-runner.js';
import { InMemoryJournal } from './testing/in-memory-journal.js';

const definition = (over: Partial<SourceDefinition> = {}): SourceDefinition => ({
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

const ok = (over: Partial<RunOutcome> = {}): RunOutcome => ({
  status: 'ok',
  emits: [],
  logs: [],
  dbChanges: {},
  startedAt: 1,
  endedAt: 2,
  ...over,
});

/** A process whose runs end when the test says so, unless `auto`. */
class FakeSandbox implements Sandbox {
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
  async stop(): Promise<void> {
    this.die();
  }
}

const setUp = (
  options: { auto?: (request: RunRequest) => RunOutcome; journal?: InMemoryJournal; loadError?: Error } = {},
) => {
  const journal = options.journal ?? new InMemoryJournal();
  const sandboxes: FakeSandbox[] = [];
  const replies: [string, HttpReply][] = [];
  const acked: number[] = [];
  const fatal: Error[] = [];
  const world = { definition: definition() as SourceDefinition | undefined };
  const deps: SourceRunnerDependencies = {
    topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
    journal,
    blobs: { fileOf: async (hash: string) => `/blobs/${hash}` },
    sources: { find: () => (world.definition ? { workspaceId: 'o_1', definition: world.definition } : undefined) },
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
      immediate: (id: string, reply: HttpReply) => replies.push([id, reply]),
      ended: (id: string, outcome: RunOutcome) => replies.push([id, replyOf(outcome)]),
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
    onFatal: (error: Error) => fatal.push(error),
  };
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
    return { record, headers, ack: () => acked.push(offset) };
  };
  return { deps, journal, sandboxes, replies, acked, fatal, world, invocation };
};

const until = async (condition: () => boolean): Promise<void> => {
  for (let i = 0; i < 500 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(condition()).toBe(true);
};

describe('source runner', () => {
  it('acknowledges an invocation only once its emits are committed', async () => {
    const t = setUp({ auto: (request) => ok({ emits: [{ payload: request.event, channel: '' }] }) });
    let release = (): void => undefined;
    t.journal.held = new Promise((resolve) => (release = resolve));
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([t.invocation(0), t.invocation(1)]);
    await until(() => t.sandboxes[0]?.started.length === 2);
    expect(t.acked).toEqual([]);
    release();
    await until(() => t.acked.length === 2);
    expect(t.journal.records.map((record) => record.value)).toEqual(['{"n":0}', '{"n":1}']);
    expect(t.journal.states.get('dc_1')?.progress).toEqual({ through: 1, above: [] });
  });

  it('runs nothing again that was committed before a crash, and everything that was not', async () => {
    const t = setUp();
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([0, 1, 2].map((offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 3);
    t.sandboxes[0]?.end('inv_0');
    t.sandboxes[0]?.end('inv_2');
    await until(() => t.acked.length === 2);

    const after = setUp({ journal: t.journal, auto: () => ok() });
    const second = await SourceRunner.load('dc_1', after.deps);
    await second.accept([0, 1, 2].map((offset) => after.invocation(offset)));
    await until(() => after.acked.length === 3);
    expect(after.sandboxes[0]?.started).toEqual(['inv_1']);
    expect(after.journal.states.get('dc_1')?.progress).toEqual({ through: 2, above: [] });
  });

  it('gives a new process the db as committed, and the invocations that the dead one never started, in order', async () => {
    const t = setUp();
    t.world.definition = definition({ dbProps: ['db'] });
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([0, 1, 2, 3].map((offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 4);
    expect(t.sandboxes[0]?.spec.concurrency).toBe(1);
    t.sandboxes[0]?.end('inv_0', ok({ dbChanges: { count: '1' } }));
    t.sandboxes[0]?.die();
    await until(() => t.sandboxes[1]?.started.length === 3);
    expect(t.sandboxes[1]?.started).toEqual(['inv_1', 'inv_2', 'inv_3']);
    expect(t.sandboxes[1]?.spec.db).toEqual({ count: '1' });
  });

  it('waits for a store that cannot write, acknowledges nothing meanwhile, and loses nothing', async () => {
    const t = setUp({ auto: () => ok({ emits: [{ payload: '1', channel: '' }] }) });
    t.journal.failures = 2;
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([t.invocation(0)]);
    await until(() => t.journal.failures === 0);
    expect(t.acked).toEqual([]);
    await until(() => t.acked.length === 1);
    expect(t.journal.records).toHaveLength(1);
  });

  it('stops when another process owns the source', async () => {
    const t = setUp({ auto: () => ok() });
    const runner = await SourceRunner.load('dc_1', t.deps);
    const other = await SourceRunner.load('dc_1', t.deps);
    await other.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    await runner.accept([t.invocation(1)]);
    await until(() => t.fatal.length === 1);
    expect(t.fatal[0]?.message).toContain('is at version 1, expected 0');
    expect(t.acked).toEqual([0]);
  });

  it('answers a customResponse after the commit, a throw with 500, and silence with 200', async () => {
    const error = { name: 'Error', message: 'boom', stack: '', code: 'Error' };
    const reply = { status: 201, headers: {}, body: 'made', base64: false };
    const outcomes: Record<string, RunOutcome> = {
      inv_0: ok({ response: reply }),
      inv_1: ok({ status: 'threw', error }),
      inv_2: ok(),
      inv_3: ok({ status: 'killed', error: { ...error, code: 'Timeout' } }),
    };
    const t = setUp({ auto: (request) => outcomes[request.invocationId] ?? ok() });
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([0, 1, 2, 3].map((offset) => t.invocation(offset, { respond: '1' })));
    await until(() => t.replies.length === 4);
    expect(t.replies.map(([, { status }]) => status)).toEqual([201, 500, 200, 504]);
    expect(t.replies[0]?.[1]).toEqual(reply);
  });

  it('does not run a repeat from the router or a timer twice', async () => {
    const t = setUp({ auto: () => ok({ emits: [{ payload: '1', channel: '' }] }) });
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([t.invocation(0, { kind: 'emit', id: 'inv_same' })]);
    await until(() => t.acked.length === 1);
    await runner.accept([t.invocation(1, { kind: 'emit', id: 'inv_same' })]);
    await until(() => t.acked.length === 2);
    expect(t.journal.records).toHaveLength(1);
  });

  it('runs one tick of a timer at a time, and those that come meanwhile as one', async () => {
    const t = setUp();
    const tick = (offset: number) => t.invocation(offset, { kind: 'timer', prop: 'timer', id: `tick_${offset}` });
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([0, 1, 2, 3].map(tick));
    await until(() => t.sandboxes[0]?.started.length === 1);
    t.sandboxes[0]?.end('tick_0');
    await until(() => t.sandboxes[0]?.started.length === 2);
    expect(t.sandboxes[0]?.started).toEqual(['tick_0', 'tick_3']);
    t.sandboxes[0]?.end('tick_3');
    await until(() => t.acked.length === 4);
  });

  it('acknowledges what comes for a source that is gone', async () => {
    const t = setUp();
    t.world.definition = undefined;
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    expect(t.sandboxes).toHaveLength(0);
  });

  it('fails each run of a bundle that cannot be loaded, as the error of the author', async () => {
    const cause = { name: 'SyntaxError', message: 'bad', stack: 's', code: 'SyntaxError' };
    const t = setUp({ loadError: new Error('cannot load', { cause }) });
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    const errors = t.journal.records.filter((record) => record.headers['channel'] === '$errors');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.value).toContain('"original_event":{"n":0}');
  });

  it('keeps what a hook emitted and stored, and runs invocations with the hook’s definition until settled', async () => {
    const t = setUp({ auto: () => ok() });
    const runner = await SourceRunner.load('dc_1', t.deps);
    const next = definition({ bundleHash: 'next' });
    const outcome = await runner.hook('activate', next, 'o_1', 'inv_hook');
    expect(outcome.status).toBe('ok');
    expect(t.journal.states.get('dc_1')?.db).toEqual({ hook: '1' });
    expect(t.journal.records.map((record) => record.headers['channel'])).toEqual(['', '$logs']);
    await runner.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    expect(t.sandboxes.map((sandbox) => sandbox.spec.bundleFile)).toEqual(['/blobs/next']);
    runner.settled();
    await runner.accept([t.invocation(1)]);
    await until(() => t.acked.length === 2);
    expect(t.sandboxes.map((sandbox) => sandbox.spec.bundleFile)).toEqual(['/blobs/next', '/blobs/hash']);
  });

  it('leaves what it did not start in the log when it closes', async () => {
    const t = setUp();
    const runner = await SourceRunner.load('dc_1', t.deps);
    await runner.accept([t.invocation(0)]);
    await until(() => t.sandboxes[0]?.started.length === 1);
    const closed = runner.close();
    t.sandboxes[0]?.end('inv_0');
    await closed;
    expect(t.acked).toEqual([0]);
    await runner.accept([t.invocation(1)]);
    expect(t.sandboxes[0]?.started).toEqual(['inv_0']);
  });
});
