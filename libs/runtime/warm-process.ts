import { type Clock } from '../kernel/clock.js';
import { parseChildMessage } from './child-message.js';
import { type JailedProcess, type ProcessEnd } from './jail/jailed-process.js';
import { causeOf, userError, type Cause } from './process-end.js';
import {
  encodeRecord,
  MAX_BATCH,
  MAX_CHILD_RECORD_BYTES,
  MB,
  ProtocolBreach,
  RecordParser,
  type ChildMessage,
  type RawRecord,
} from './protocol.js';
import { RunCollector } from './run-collector.js';
import {
  type HookName,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
} from './sandbox.js';

const STOP_GRACE_MS = 500;
/** Invocations that the child holds: two frames, so that it never waits for the host. */
const WINDOW = 2 * MAX_BATCH;
const MAX_FRAME_BYTES = MB;
/** Of events that the child holds, beyond which it gets no more. */
const WINDOW_BYTES = 4 * MB;
/** `ready`. */
const HEARD_AT_START = 1;

interface Queued {
  readonly request: RunRequest;
  readonly resolve: (outcome: RunOutcome) => void;
  readonly reject: (reason: Error) => void;
}

/** Host side of one warm process: hands out invocations, collects what they say, ends it when one overstays. */
export class ProcessSandbox implements Sandbox {
  private queue: Queued[] = [];
  private queueHead = 0;
  private readonly sent = new Map<number, RunCollector>();
  private hooks: Promise<unknown> = Promise.resolve();
  private sentBytes = 0;
  private nextRun = 1;
  /** After `init` down, and `ready` up. */
  private nextRecord = 1;
  private heard = HEARD_AT_START;
  private startOrder = 0;
  private lastHeardAt = 0;
  private dispatchPlanned = false;
  private watchdog: NodeJS.Timeout | undefined;
  private cause: Cause | undefined;
  private culprit: RunCollector | undefined;
  private breached = false;
  private stopped = false;
  private isAlive = true;
  private readonly finished: Promise<void>;

  constructor(
    private readonly spec: SandboxSpec,
    private readonly child: JailedProcess,
    private readonly memoryMb: number,
    private readonly clock: Clock,
  ) {
    this.finished = child.ended.then((end) => this.close(end));
  }

  run(request: RunRequest): Promise<RunOutcome> {
    if (!this.isAlive) return Promise.reject(this.gone());
    return new Promise((resolve, reject) => {
      this.queue.push({ request, resolve, reject });
      this.planDispatch();
    });
  }

  hook(hook: HookName, timeoutMs: number): Promise<RunOutcome> {
    const run = this.hooks.then(() => this.startHook(hook, timeoutMs));
    this.hooks = run.then(
      () => undefined,
      () => undefined,
    );
    return run;
  }

  alive(): boolean {
    return this.isAlive;
  }

  async stop(): Promise<void> {
    this.cause ??= { code: 'ProcessExited', text: 'the sandbox was stopped' };
    this.stopped = true;
    this.isAlive = false;
    if (this.sent.size === 0) this.child.kill();
    else this.child.hangUp();
    const timer = setTimeout(() => this.child.kill(), STOP_GRACE_MS);
    await this.finished;
    clearTimeout(timer);
  }

  /** For JailedProcess. */
  onRecord(record: RawRecord): void {
    if (record.index !== this.heard >>> 0) throw new ProtocolBreach('a record out of order');
    this.heard++;
    this.take(parseChildMessage(record), record.raw);
  }

  onRead(): void {
    this.lastHeardAt = this.clock.now();
    if (this.queueHead < this.queue.length) this.dispatch();
  }

  onBreach(breach: ProtocolBreach): void {
    this.cause ??= { code: 'ProcessExited', text: `the process was ended because of ${breach.message}` };
    this.breached = true;
    this.isAlive = false;
  }

  private startHook(hook: HookName, timeoutMs: number): Promise<RunOutcome> {
    if (!this.isAlive) return Promise.reject(this.gone());
    return new Promise((resolve, reject) => {
      const n = this.nextRun++;
      this.sent.set(
        n,
        new RunCollector({
          n,
          invocationId: `hook ${hook}`,
          timeoutMs,
          sentAt: this.clock.now(),
          beside: true,
          bytes: 0,
          resolve,
          reject,
          onImmediateResponse: undefined,
        }),
      );
      this.child.send(encodeRecord(this.nextRecord++, { t: 'hook', n, hook }));
      this.watch();
    });
  }

  private planDispatch(): void {
    if (this.dispatchPlanned) return;
    this.dispatchPlanned = true;
    setImmediate(() => {
      this.dispatchPlanned = false;
      this.dispatch();
    });
  }

  private dispatch(): void {
    while (
      this.isAlive &&
      this.queueHead < this.queue.length &&
      this.sent.size < Math.max(WINDOW, this.spec.concurrency) &&
      this.sentBytes < WINDOW_BYTES
    )
      this.sendFrame();
    if (this.queueHead > 0 && this.queueHead === this.queue.length) {
      this.queue = [];
      this.queueHead = 0;
    }
  }

  private sendFrame(): void {
    const now = this.clock.now();
    const runs: [number, number][] = [];
    const texts: string[] = [];
    let bytes = 0;
    while (runs.length < MAX_BATCH && bytes < MAX_FRAME_BYTES && this.queueHead < this.queue.length) {
      const queued = this.queue[this.queueHead++];
      if (!queued) break;
      const { request, resolve, reject } = queued;
      const n = this.nextRun++;
      const length = Buffer.byteLength(request.event);
      runs.push([n, length]);
      texts.push(request.event);
      bytes += length;
      this.sentBytes += length;
      this.sent.set(
        n,
        new RunCollector({
          n,
          invocationId: request.invocationId,
          timeoutMs: request.timeoutMs,
          sentAt: now,
          beside: false,
          bytes: length,
          resolve,
          reject,
          onImmediateResponse: request.onImmediateResponse,
        }),
      );
    }
    this.child.send(encodeRecord(this.nextRecord++, { t: 'run', runs }, texts));
    this.watch();
  }

  private take(message: ChildMessage, raw: Buffer): void {
    const tag = message[0];
    if (tag === 'ready' || tag === 'loadfail' || tag === 'meta' || tag === 'invalid')
      throw new ProtocolBreach(`a message of kind "${tag}" after loading`);
    const run = this.sent.get(message[1]);
    if (!run) throw new ProtocolBreach(`a message about run ${message[1]}, which is not going on`);
    if (tag === 's') return this.started(run, message[2]);
    if (!run.started) throw new ProtocolBreach(`a message of kind "${tag}" of a run that has not started`);
    if (tag === 'd') return this.done(run, message);
    if (tag === 'x') {
      this.culprit = run;
      return;
    }
    run.say(message, raw);
  }

  private started(run: RunCollector, at: number): void {
    if (run.started) throw new ProtocolBreach('a second start of one run');
    run.startedAt = Math.min(Math.max(at, run.sentAt), this.clock.now());
    run.startOrder = ++this.startOrder;
  }

  private done(run: RunCollector, [, , at, error]: Extract<ChildMessage, readonly ['d', ...unknown[]]>): void {
    this.sent.delete(run.n);
    this.sentBytes -= run.bytes;
    const endedAt = Math.min(Math.max(at, run.startedAt), this.clock.now());
    run.resolve(error === null ? run.outcome('ok', endedAt) : run.outcome('threw', endedAt, error));
  }

  private watch(): void {
    if (this.watchdog || this.sent.size === 0) return;
    let shortest = Infinity;
    for (const run of this.sent.values()) shortest = Math.min(shortest, run.timeoutMs);
    this.watchdog = setTimeout(
      () => {
        this.watchdog = undefined;
        this.endOverdue();
        if (this.isAlive) this.watch();
      },
      Math.min(Math.max(shortest / 10, 10), 250),
    );
  }

  /**
   * Kills the process when a run overstays, or when one that could start is not even heard to have started: then
   * something blocks the whole process since the last word from it (Uplink.spill).
   */
  private endOverdue(): void {
    const now = this.clock.now();
    let free = this.spec.concurrency;
    const next: RunCollector[] = [];
    for (const run of this.sent.values()) {
      if (!run.started) next.push(run);
      else if (now - run.startedAt >= run.timeoutMs) return this.killFor(run);
      else if (!run.beside) free--;
    }
    const isStuck = (run: RunCollector): boolean => now - Math.max(run.sentAt, this.lastHeardAt) >= run.timeoutMs;
    if (next.slice(0, Math.max(free, 0)).some(isStuck)) this.killFor(undefined);
  }

  private killFor(run: RunCollector | undefined): void {
    this.culprit = run;
    this.cause = {
      code: 'Timeout',
      text: `${run ? `run ${run.invocationId}` : 'a run'} took longer than its limit`,
    };
    this.isAlive = false;
    this.child.kill();
  }

  private gone(): SandboxGone {
    return new SandboxGone(this.spec.sourceId, this.cause?.text ?? 'its process ended');
  }

  private close(end: ProcessEnd): void {
    this.isAlive = false;
    clearTimeout(this.watchdog);
    this.readSpilled(end.spilled);
    const cause = this.cause ?? causeOf(end, this.memoryMb);
    this.cause = cause;
    this.blameFirst(cause);
    const culprit = this.culprit ?? (cause.code === 'Timeout' ? this.lastStarted() : undefined);
    const now = this.clock.now();
    for (const run of this.sent.values()) {
      if (run.started) run.resolve(run.outcome('killed', now, this.errorOf(run, cause, culprit, now)));
      else run.reject(this.gone());
    }
    for (const { reject } of this.queue.slice(this.queueHead)) reject(this.gone());
    this.sent.clear();
    this.queue = [];
  }

  /**
   * A process that hangs, breaks the protocol, or ends before it said anything at all cannot have it count as never
   * started: whoever sends it again would do so for ever.
   */
  private blameFirst({ code }: Cause): void {
    const all = [...this.sent.values()];
    const first = all[0];
    const endedAtOnce = this.heard === HEARD_AT_START && !this.stopped;
    if (!first || all.some((run) => run.started) || !(code === 'Timeout' || this.breached || endedAtOnce)) return;
    first.startedAt = first.sentAt;
    first.startOrder = ++this.startOrder;
  }

  private errorOf(
    run: RunCollector,
    cause: Cause,
    culprit: RunCollector | undefined,
    now: number,
  ): RunOutcome['error'] {
    const overdue = cause.code === 'Timeout' && (run === culprit || now - run.startedAt >= run.timeoutMs);
    if (overdue)
      return userError(
        'Timeout',
        `the run took longer than its limit of ${run.timeoutMs} ms: make it faster, or raise the limit`,
      );
    if (culprit && run !== culprit)
      return userError(
        'ProcessExited',
        `the process was taken down by another run, ${culprit.invocationId}: ${cause.code}`,
      );
    return userError(cause.code, cause.text);
  }

  private lastStarted(): RunCollector | undefined {
    let last: RunCollector | undefined;
    for (const run of this.sent.values()) if (run.started && run.startOrder >= (last?.startOrder ?? 0)) last = run;
    return last;
  }

  /** What the child had said but not yet sent when it was killed. */
  private readSpilled(spilled: Buffer): void {
    try {
      new RecordParser(MAX_CHILD_RECORD_BYTES, (record) => {
        if (record.index === this.heard >>> 0) this.onRecord(record);
        else if (record.index > this.heard) throw new ProtocolBreach('the rest is older');
      }).push(spilled);
    } catch (error) {
      // Whatever follows is left over from before, or was half written.
      if (!(error instanceof ProtocolBreach)) throw error;
    }
  }
}
