import { type Clock } from '../../kernel/clock.js';
import { parseChildMessage } from '../protocol/child-message.js';
import { type JailedProcess, type ProcessEnd } from '../jail/jailed-process.js';
import { overdueOf } from './overdue-run.js';
import { causeOf, errorOfKilled, type Cause } from './process-end.js';
import {
  encodeRecord,
  MAX_BATCH,
  MB,
  ProtocolBreach,
  recordBytes,
  type ChildMessage,
  type RawRecord,
} from '../protocol/protocol.js';
import { largestOf, lastStarted, RunCollector } from './run-collector.js';
import { type MemoryAccount, type RunsMemory } from './runs-memory.js';
import {
  type HeldMemory,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
} from '../sandbox.js';
import { type HookName } from '../../component-model/hooks.js';
import { readSpilled } from './spilled-records.js';
import { UnsentRuns } from './unsent-runs.js';

const STOP_GRACE_MS = 500;
/** Maximum number of invocations in the child. Two frames, so that the child never waits for the host. */
const WINDOW = 2 * MAX_BATCH;
const MAX_FRAME_BYTES = MB;
/** Bytes of events in the child beyond which it gets no more. */
const WINDOW_BYTES = 4 * MB;
/** Records heard once the child is ready: `ready` itself. */
const HEARD_AT_START = 1;
/** Extra time, on top of a blocking run's limit, for a process to give back the runs it has not started. */
const GIVE_BACK_MS = 1_000;

/** Used part of JailedProcess. */
export type SandboxProcess = Pick<
  JailedProcess,
  'ended' | 'send' | 'hangUp' | 'kill' | 'pauseReading' | 'resumeReading' | 'cpuMs'
>;

/** Host side of one warm process. Sends invocations, collects their output, and ends the process on a timeout. */
export class ProcessSandbox implements Sandbox {
  private readonly unsent = new UnsentRuns();
  private readonly sent = new Map<number, RunCollector>();
  private hooks: Promise<unknown> = Promise.resolve();
  private sentBytes = 0;
  private nextRun = 1;
  /** Index of the next record to the child, after `init`. */
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
  private drains = false;
  /** Deadline for the answer to `drop`. Undefined while no answer is due. */
  private giveBackBy: number | undefined;
  private readonly finished: Promise<void>;
  private readonly account: MemoryAccount;
  private pendingBytes = 0;
  /** Time at which reading was paused. Undefined while the child is read. */
  private pausedAt: number | undefined;

  constructor(
    private readonly spec: SandboxSpec,
    private readonly child: SandboxProcess,
    private readonly memoryMb: number,
    private readonly clock: Clock,
    memory: RunsMemory,
  ) {
    this.account = memory.open({
      pause: () => this.pause(),
      resume: () => this.resume(),
      endLargest: () => this.endLargest(),
    });
    this.finished = child.ended.then((end) => this.close(end));
  }

  run(request: RunRequest): Promise<RunOutcome> {
    if (!this.isAlive || this.drains) return Promise.reject(this.gone());
    return new Promise((resolve, reject) => {
      this.unsent.push({ request, resolve, reject });
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

  drain(): void {
    if (this.drains || !this.isAlive) return;
    this.drains = true;
    for (const { reject } of this.unsent.takeAll()) reject(this.gone());
    const all = [...this.sent.values()];
    if (all.every((run) => run.started || run.beside)) return;
    // Runs are given back only after the child's answer, because the child may be starting one right now.
    this.giveBackBy = this.clock.now() + Math.max(...all.map(({ timeoutMs }) => timeoutMs)) + GIVE_BACK_MS;
    this.child.send(encodeRecord(this.nextRecord++, { t: 'drop' }));
  }

  alive(): boolean {
    return this.isAlive;
  }

  cpuMs(): number | undefined {
    return this.child.cpuMs();
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

  /** Called by JailedProcess for each record. */
  onRecord(record: RawRecord): void {
    if (record.index !== this.heard >>> 0) throw new ProtocolBreach('a record out of order');
    this.heard++;
    this.take(parseChildMessage(record), record);
  }

  /** @param pendingBytes bytes of an incomplete record */
  onRead(pendingBytes: number): void {
    if (pendingBytes > 0 && this.sent.size === 0 && this.giveBackBy === undefined)
      throw new ProtocolBreach('bytes that belong to no run');
    this.lastHeardAt = this.clock.now();
    this.account.hold(pendingBytes - this.pendingBytes);
    this.pendingBytes = pendingBytes;
    this.account.settle();
    this.dispatch();
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
          eventBytes: 0,
          resolve,
          reject,
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
      this.unsent.size > 0 &&
      this.sent.size < Math.max(WINDOW, this.spec.concurrency) &&
      this.sentBytes < WINDOW_BYTES &&
      this.account.mayTake()
    )
      this.sendFrame();
  }

  private sendFrame(): void {
    const now = this.clock.now();
    const runs: [number, number][] = [];
    const texts: string[] = [];
    let bytes = 0;
    while (runs.length < MAX_BATCH && bytes < MAX_FRAME_BYTES) {
      const unsent = this.unsent.shift();
      if (!unsent) break;
      const { request, resolve, reject } = unsent;
      const n = this.nextRun++;
      const length = Buffer.byteLength(request.event);
      runs.push([n, length]);
      texts.push(request.event);
      bytes += length;
      this.sentBytes += length;
      this.account.hold(length);
      this.sent.set(
        n,
        new RunCollector({
          n,
          invocationId: request.invocationId,
          timeoutMs: request.timeoutMs,
          sentAt: now,
          beside: false,
          eventBytes: length,
          resolve,
          reject,
          onImmediateResponse: request.onImmediateResponse,
        }),
      );
    }
    this.child.send(encodeRecord(this.nextRecord++, { t: 'run', runs }, texts));
    this.watch();
  }

  private take(message: ChildMessage, { json, raw }: RawRecord): void {
    const tag = message[0];
    if (tag === 'ready' || tag === 'loadfail' || tag === 'meta' || tag === 'invalid')
      throw new ProtocolBreach(`a message of kind "${tag}" after loading`);
    if (tag === 'g') return this.givenBack();
    const run = this.sent.get(message[1]);
    if (!run) throw new ProtocolBreach(`a message about run ${message[1]}, which is not in progress`);
    if (tag === 's') return this.started(run, message[2]);
    if (!run.started) throw new ProtocolBreach(`a message of kind "${tag}" of a run that has not started`);
    if (tag === 'd') return this.done(run, message);
    run.countRecord(recordBytes(json.length, raw.length));
    if (tag === 'x') {
      run.exits();
      this.culprit = run;
      return;
    }
    const before = run.heldBytes;
    try {
      run.say(message, raw);
    } finally {
      // A message that breaks a limit is counted too, because the run releases all that it counted.
      this.account.hold(run.heldBytes - before);
    }
  }

  /** Records arrive in order, so a run that has not reported its start by now will never start. */
  private givenBack(): void {
    if (this.giveBackBy === undefined) throw new ProtocolBreach('runs given back that were not asked for');
    this.giveBackBy = undefined;
    for (const run of this.sent.values()) {
      if (run.started || run.beside) continue;
      this.sent.delete(run.n);
      this.sentBytes -= run.eventBytes;
      this.giveBack(run);
    }
  }

  private giveBack(run: RunCollector): void {
    this.account.hold(-run.heldBytes);
    run.reject(this.gone());
  }

  private started(run: RunCollector, at: number): void {
    if (run.started) throw new ProtocolBreach('a second start of one run');
    run.startedAt = Math.min(Math.max(at, run.sentAt), this.clock.now());
    run.startOrder = ++this.startOrder;
  }

  private done(run: RunCollector, [, , at, error]: Extract<ChildMessage, readonly ['d', ...unknown[]]>): void {
    this.sent.delete(run.n);
    this.sentBytes -= run.eventBytes;
    const endedAt = Math.min(Math.max(at, run.startedAt), this.clock.now());
    const held = this.heldBy(run);
    run.resolve(error === null ? run.outcome('ok', endedAt, held) : run.outcome('threw', endedAt, held, error));
  }

  private heldBy(run: RunCollector): HeldMemory {
    return { bytes: run.heldBytes, release: this.account.ended(run.heldBytes) };
  }

  private pause(): void {
    this.pausedAt ??= this.clock.now();
    this.child.pauseReading();
  }

  /** Time during which the process was not read does not count towards the limits of its runs. */
  private resume(): void {
    if (this.pausedAt !== undefined) {
      const now = this.clock.now();
      for (const run of this.sent.values()) run.wasUnheard(now - Math.max(this.pausedAt, run.startedAt));
      this.lastHeardAt = now;
      if (this.giveBackBy !== undefined) this.giveBackBy += now - this.pausedAt;
      this.pausedAt = undefined;
      this.child.resumeReading();
    }
    this.planDispatch();
  }

  private endLargest(): void {
    const largest = largestOf(this.sent.values());
    this.endFor(largest, {
      code: 'FunctionPayloadLimitExceeded',
      text: `the run held ${largest?.heldBytes ?? 0} bytes while other runs waited for memory: emit less in one run, or raise SLUICE_RUNS_MEMORY_MB`,
    });
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

  private endOverdue(): void {
    if (this.pausedAt !== undefined) return;
    const now = this.clock.now();
    const { lastHeardAt, spec } = this;
    const overdue = overdueOf(this.sent.values(), { now, lastHeardAt, concurrency: spec.concurrency });
    if (overdue) {
      const run = overdue === 'unknown' ? undefined : overdue;
      const text = `${run ? `run ${run.invocationId}` : 'a run'} took longer than its limit`;
      this.endFor(run, { code: 'Timeout', text });
    } else if (this.giveBackBy !== undefined && now >= this.giveBackBy) {
      const text = 'the process had to make room for another workspace and did not answer, because code blocks it';
      this.endFor(undefined, { code: 'ProcessExited', text });
    }
  }

  private endFor(run: RunCollector | undefined, cause: Cause): void {
    this.culprit = run;
    this.cause = cause;
    this.isAlive = false;
    this.child.kill();
  }

  private gone(): SandboxGone {
    const otherwise = this.drains ? 'another workspace needs its place' : 'its process ended';
    return new SandboxGone(this.spec.sourceId, this.cause?.text ?? otherwise);
  }

  private close(end: ProcessEnd): void {
    this.isAlive = false;
    clearTimeout(this.watchdog);
    readSpilled(
      end.spilled,
      () => this.heard,
      (record) => this.onRecord(record),
    );
    const cause = this.cause ?? causeOf(end, this.memoryMb);
    this.cause = cause;
    this.blameFirst(cause);
    const culprit = this.culprit ?? (cause.code === 'Timeout' ? lastStarted(this.sent.values()) : undefined);
    const now = this.clock.now();
    for (const run of this.sent.values()) {
      if (run.started) {
        run.resolve(run.outcome('killed', now, this.heldBy(run), errorOfKilled(run, cause, culprit, now)));
      } else this.giveBack(run);
    }
    this.account.hold(-this.pendingBytes);
    this.account.close();
    for (const { reject } of this.unsent.takeAll()) reject(this.gone());
    this.sent.clear();
  }

  /**
   * Counts the first run as started when the process hangs, breaks the protocol, or ends before its first record. If no
   * run counted as started, callers would retry it indefinitely.
   */
  private blameFirst({ code }: Cause): void {
    const all = [...this.sent.values()];
    const first = all[0];
    const endedAtOnce = this.heard === HEARD_AT_START && !this.stopped;
    if (!first || all.some((run) => run.started) || !(code === 'Timeout' || this.breached || endedAtOnce)) return;
    first.startedAt = first.sentAt;
    first.startOrder = ++this.startOrder;
  }
}
