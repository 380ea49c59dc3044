import { endsWithin } from '#libs/async/deadline.js';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type JailedProcess, type ProcessEnd } from '../jail/jailed-process.js';
import { ProtocolBreach, recordBytes, type RawRecord } from '#libs/framing/records.js';
import {
  type BoundCall,
  type CallListener,
  type HeldMemory,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
} from '../sandbox.js';
import { ChildChannel, type RunMessage } from './child-channel.js';
import { LATE_RECORD_BYTES } from '../protocol/late-work.js';
import { LateReports } from './late-reports.js';
import { causeOf, errorOfKilled, type HeapLimit, isVictim, type Cause } from './process-end.js';
import { type RunCollector } from './run-collector.js';
import { RunSender } from './run-sender.js';
import { RunWatchdog } from './run-watchdog.js';
import { type MemoryAccount, type RunsMemory } from './runs-memory.js';
import { SentBundles } from './sent-bundles.js';
import { SentRuns } from './sent-runs.js';
import { StoreCalls, storesOf } from './store-calls.js';

const STOP_GRACE_MS = 500;
/** Code of the error of a run that exceeded what it may send. */
const LIMIT_EXCEEDED = 'FunctionPayloadLimitExceeded';

/** Used part of JailedProcess. */
export type SandboxProcess = Pick<
  JailedProcess,
  'ended' | 'send' | 'hangUp' | 'kill' | 'pauseReading' | 'resumeReading' | 'cpuMs'
>;

/** Host side of one warm process. Sends invocations, collects their output, and ends the process on a timeout. */
export class ProcessSandbox implements Sandbox {
  private readonly sent: SentRuns;
  private readonly channel: ChildChannel;
  private readonly watchdog: RunWatchdog;
  private readonly account: MemoryAccount;
  private readonly sender: RunSender;
  private readonly hooks = new SerialQueue();
  private readonly late = new LateReports();
  private readonly stores: StoreCalls;
  private readonly bundles = new SentBundles((bundle, code) => {
    if (this.isAlive) this.channel.send({ t: 'bundle', bundle }, [code]);
  });
  private readonly finished: Promise<void>;
  private cause: Cause | undefined;
  private culprit: RunCollector | undefined;
  private breached = false;
  private spent = false;
  private stopped = false;
  private isAlive = true;
  private drains = false;
  private pendingBytes = 0;

  constructor(
    private readonly spec: SandboxSpec,
    private readonly child: SandboxProcess,
    private readonly heap: HeapLimit,
    private readonly clock: Clock,
    memory: RunsMemory,
    access?: DataStoreAccess,
  ) {
    const alive = (): boolean => this.isAlive;
    this.sent = new SentRuns(spec.concurrency);
    this.channel = new ChildChannel(child);
    const own = storesOf(spec.props);
    this.stores = new StoreCalls(
      access,
      spec.workspaceId,
      (n, store) => (this.sent.get(n)?.stores ?? own).has(store),
      (message, text, sent) => this.channel.send(message, text === undefined ? undefined : [text], sent),
    );
    this.watchdog = new RunWatchdog(this.sent, spec.concurrency, clock, {
      alive,
      onOverdue: (run) => this.endOverdue(run),
      onGiveBackOverdue: () => this.endBlocked(),
    });
    this.account = memory.open({
      pause: () => this.pause(),
      resume: () => this.resume(),
      endLargest: () => this.endLargest(),
    });
    const { sent, channel, watchdog, account } = this;
    this.sender = new RunSender({ sent, channel, watchdog, account, clock, alive });
    this.finished = child.ended.then((end) => this.close(end));
  }

  run(request: RunRequest): Promise<RunOutcome> {
    if (!this.isAlive || this.drains) return Promise.reject(this.gone());
    return new Promise((resolve, reject) => this.sender.enqueue({ request, resolve, reject }));
  }

  hook(hook: ProcessCall, timeoutMs: number): Promise<RunOutcome> {
    return this.hooks.run(() => {
      if (!this.isAlive) return Promise.reject(this.gone());
      return new Promise((resolve, reject) => this.sender.sendHook(hook, timeoutMs, resolve, reject));
    });
  }

  ask(call: BoundCall, timeoutMs: number, listener: CallListener = {}): Promise<RunOutcome> {
    const { bundle, ...bound } = call;
    const send = (number: number): Promise<RunOutcome> => {
      if (!this.isAlive) return Promise.reject(this.gone());
      const asked = { call: bound, bundle: number, timeoutMs, listener };
      return new Promise((resolve, reject) => this.sender.sendCall(asked, resolve, reject));
    };
    return bundle === undefined ? send(0) : this.bundles.sent(bundle).then(send);
  }

  isSpent(): boolean {
    return this.spent;
  }

  tellWaiting(events: WaitingEvents): void {
    if (this.isAlive) this.channel.send({ t: 'waiting', events });
  }

  drain(): void {
    if (this.drains || !this.isAlive) return;
    this.drains = true;
    for (const { reject } of this.sender.clear()) reject(this.gone());
    if (this.sent.notStarted().length === 0) return;
    // Runs are returned only after the child's answer, because the child may be starting one right now.
    this.watchdog.expectGiveBack();
    this.channel.send({ t: 'drop' });
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
    if (await endsWithin(this.finished, STOP_GRACE_MS)) return;
    this.child.kill();
    await this.finished;
  }

  /** Called by JailedProcess for each record. */
  onRecord(record: RawRecord): void {
    this.handle(this.channel.receive(record), record);
  }

  /** @param pendingBytes bytes of an incomplete record */
  onRead(pendingBytes: number): void {
    if (pendingBytes > LATE_RECORD_BYTES && this.sent.size === 0 && !this.watchdog.awaitsGiveBack)
      throw new ProtocolBreach('bytes that belong to no run');
    this.watchdog.heard();
    this.account.hold(pendingBytes - this.pendingBytes);
    this.pendingBytes = pendingBytes;
    this.account.applyBackPressure();
    this.sender.send();
  }

  onBreach(breach: ProtocolBreach): void {
    this.cause ??= { code: 'ProcessExited', text: `the process was ended because of ${breach.message}` };
    this.breached = true;
    this.isAlive = false;
  }

  private handle(message: RunMessage, { json, raw }: RawRecord): void {
    const tag = message[0];
    if (tag === 'g') return this.givenBack();
    if (tag === 'p') return this.wasLate(message, raw);
    const run = this.sent.get(message[1]);
    if (!run) throw new ProtocolBreach(`a message about run ${message[1]}, which is not in progress`);
    if (tag === 's') return this.started(run, message[2]);
    if (!run.started) throw new ProtocolBreach(`a message of kind "${tag}" of a run that has not started`);
    if (tag === 'd') return this.done(run, message);
    if (tag === 'q') return this.stores.receive(message, raw);
    run.countRecord(recordBytes(json.length, raw.length));
    if (tag === 'x') {
      run.exits();
      this.culprit = run;
      return;
    }
    if (tag === 'w') return run.refreshTimeout(momentOf(message[2], run.startedAt, this.clock.now()));
    const before = run.heldBytes;
    try {
      run.say(message, raw);
    } finally {
      // A message that breaks a limit is counted too, because the run releases all counted bytes.
      this.account.hold(run.heldBytes - before);
    }
  }

  private wasLate([, n, kind, at]: Extract<RunMessage, readonly ['p', ...unknown[]]>, raw: Buffer): void {
    const line = this.late.read(n, kind, at, raw);
    this.spent = true;
    this.spec.onLate?.(line);
  }

  /** Records arrive in order, so a run that has not reported its start by now will never start. */
  private givenBack(): void {
    if (!this.watchdog.awaitsGiveBack) throw new ProtocolBreach('runs given back that were not asked for');
    this.watchdog.givenBack();
    for (const run of this.sent.notStarted()) {
      this.sent.remove(run);
      this.giveBack(run);
    }
  }

  private giveBack(run: RunCollector): void {
    this.account.hold(-run.heldBytes);
    run.reject(this.gone());
  }

  private started(run: RunCollector, at: number): void {
    if (run.started) throw new ProtocolBreach('a second start of one run');
    this.sent.start(run, momentOf(at, run.sentAt, this.clock.now()));
  }

  private done(run: RunCollector, [, , at, error, spent]: Extract<RunMessage, readonly ['d', ...unknown[]]>): void {
    this.sent.remove(run);
    if (spent === 1 || error?.code === LIMIT_EXCEEDED) this.spent = true;
    this.late.ended(run);
    const endedAt = momentOf(at, run.startedAt, this.clock.now());
    const held = this.heldBy(run);
    run.resolve(error === null ? run.outcome('ok', endedAt, held) : run.outcome('threw', endedAt, held, error));
  }

  private heldBy(run: RunCollector): HeldMemory {
    return { bytes: run.heldBytes, release: this.account.ended(run.heldBytes) };
  }

  private pause(): void {
    this.watchdog.pause();
    this.child.pauseReading();
  }

  private resume(): void {
    if (this.watchdog.resume()) this.child.resumeReading();
    this.sender.plan();
  }

  private endLargest(): void {
    const largest = this.sent.largest();
    this.endFor(largest, {
      code: LIMIT_EXCEEDED,
      text: `the run held ${largest?.heldBytes ?? 0} bytes while other runs waited for memory: emit less in one run`,
    });
  }

  private endOverdue(run: RunCollector | undefined): void {
    const text = `${run ? `run ${run.invocationId}` : 'a run'} took longer than its limit`;
    this.endFor(run, { code: 'Timeout', text });
  }

  private endBlocked(): void {
    const text = 'the process had to make room for another workspace and did not answer, because code blocks it';
    this.endFor(undefined, { code: 'ProcessExited', text });
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
    this.stores.close();
    this.watchdog.close();
    this.channel.readSpilled(end.spilled, (record) => this.onRecord(record));
    const cause = this.cause ?? causeOf(end, this.heap);
    this.cause = cause;
    this.blameFirst(cause);
    const at = this.clock.now();
    const death = { cause, culprit: this.culprit ?? this.likelyCulprit(cause, at), at };
    for (const run of this.sent) {
      if (run.started) {
        const isInterrupted = this.stopped || isVictim(run, death);
        run.resolve(run.outcome('killed', at, this.heldBy(run), errorOfKilled(run, death), isInterrupted));
      } else this.giveBack(run);
    }
    this.account.hold(-this.pendingBytes);
    this.account.close();
    for (const { reject } of this.sender.clear()) reject(this.gone());
    this.sent.clear();
  }

  /** The steps of a process start again, but for one: the one that is overdue, else the one that started last. */
  private likelyCulprit({ code }: Cause, now: number): RunCollector | undefined {
    const last = this.sent.lastStarted();
    if (this.stopped || last?.work !== 'step') return code === 'Timeout' ? last : undefined;
    const overdue = [...this.sent].find((run) => run.started && run.ranFor(now) >= run.timeoutMs);
    return code === 'Timeout' ? (overdue ?? last) : last;
  }

  /**
   * Counts the first run as started when the process hangs, breaks the protocol, or ends before its first record. If no
   * run counted as started, callers would retry it indefinitely.
   */
  private blameFirst({ code }: Cause): void {
    const endedAtOnce = this.channel.isSilent && !this.stopped;
    if (!(code === 'Timeout' || this.breached || endedAtOnce)) return;
    const first = this.sent.firstIfNoneStarted();
    if (first) this.sent.start(first, first.sentAt);
  }
}

/** A child's time that is earlier than the previous event by less than this is imprecise. */
const IMPRECISE_MS = 1_000;

/**
 * The child's time of an event, but not before `after` nor after `now`. When the child's wall clock is behind the clock
 * that all processes share, the time of receipt counts.
 */
const momentOf = (told: number, after: number, now: number): number =>
  told < after - IMPRECISE_MS ? now : Math.min(Math.max(told, after), now);
