import { type Clock } from '#libs/kernel/clock.js';
import { type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type BoundCall, type CallListener, type RunOutcome, type RunRequest, type Sandbox } from '../sandbox.js';

/** Names of processes of calls begin so. */
export const CALLS = 'call_';

/** Process in the pool, or a request for one. */
export class Entry {
  sandbox: Promise<Sandbox> = new Promise<never>(() => undefined);
  inner: Sandbox | undefined;
  timer: NodeJS.Timeout | undefined;
  going = 0;
  starting = false;
  startedAt = 0;
  /** True when the process accepts no more runs. */
  drains = false;
  /** Number of runs and hooks since the start. */
  begun = 0;

  constructor(
    readonly sourceId: string,
    readonly workspaceId: string,
    public usedAt: number,
    private readonly onIdle: () => void,
    /** Calls that may use the process. Undefined for the process of a source, and for one that serves one call. */
    readonly key?: string,
    /** Places of the pool that the process takes. */
    readonly places = 1,
  ) {}

  get isLiving(): boolean {
    return this.starting || this.inner?.alive() === true;
  }

  /** True for an idle process of calls. */
  get isKept(): boolean {
    return this.key !== undefined && this.going === 0;
  }

  /** True for a process of calls that may serve another one. */
  mayServe(): boolean {
    return this.inner?.alive() === true && !this.inner.isSpent();
  }

  usable(): boolean {
    return !this.drains && (!this.inner || this.inner.alive());
  }

  readonly ended = (clock: Clock): void => {
    this.usedAt = clock.now();
    if (--this.going === 0) this.onIdle();
  };
}

/** Number of processes in each state. */
export interface PoolStates {
  readonly warm: number;
  readonly busy: number;
  readonly starting: number;
  /** Sources waiting for a free slot. */
  readonly waiting: number;
}

export const statesOf = (entries: readonly Entry[]): PoolStates => ({
  warm: entries.filter((entry) => entry.inner?.alive()).length,
  busy: entries.filter((entry) => entry.going > 0).length,
  starting: entries.filter((entry) => entry.starting).length,
  waiting: entries.filter((entry) => !entry.inner && !entry.starting).length,
});

/** Sandbox that counts its runs and hooks in the pool's entry. */
export class PooledSandbox implements Sandbox {
  private readonly ended: () => void;

  constructor(
    private readonly inner: Sandbox,
    private readonly entry: Entry,
    clock: Clock,
  ) {
    this.ended = () => this.entry.ended(clock);
  }

  run(request: RunRequest): Promise<RunOutcome> {
    return this.counted(this.inner.run(request));
  }

  hook(hook: ProcessCall, timeoutMs: number): Promise<RunOutcome> {
    return this.counted(this.inner.hook(hook, timeoutMs));
  }

  ask(call: BoundCall, timeoutMs: number, listener?: CallListener): Promise<RunOutcome> {
    return this.counted(this.inner.ask(call, timeoutMs, listener));
  }

  isSpent(): boolean {
    return this.inner.isSpent();
  }

  tellWaiting(events: WaitingEvents): void {
    this.inner.tellWaiting(events);
  }

  drain(): void {
    this.inner.drain();
  }

  alive(): boolean {
    return !this.entry.drains && this.inner.alive();
  }

  cpuMs(): number | undefined {
    return this.inner.cpuMs();
  }

  stop(): Promise<void> {
    return this.inner.stop();
  }

  private counted(outcome: Promise<RunOutcome>): Promise<RunOutcome> {
    this.entry.going++;
    this.entry.begun++;
    outcome.then(this.ended, this.ended);
    return outcome;
  }
}
