import { type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type RunOutcome, type RunRequest, type Sandbox, SandboxGone, type SandboxSpec } from '#libs/sandbox/index.js';

export const ok = (over: Partial<RunOutcome> = {}): RunOutcome => ({
  status: 'ok',
  emits: [],
  logs: [],
  dbChanges: {},
  startedAt: 1,
  endedAt: 2,
  ...over,
});

export interface Script {
  /** Returns the outcome of each run. Without it the spec ends runs itself. */
  readonly auto?: (request: RunRequest) => RunOutcome;
  /** Returns the outcome of hooks. By default they emit and store something at once. */
  readonly hook?: (hook: ProcessCall, timeoutMs: number) => Promise<RunOutcome>;
}

export const hookOutcome = ok({ emits: [{ payload: '"hook"', channel: '' }], dbChanges: { hook: '1' } });

interface Pending {
  readonly resolve: (outcome: RunOutcome) => void;
  readonly reject: (error: Error) => void;
  readonly request: RunRequest;
}

/** Stands in for the sandbox process of a source. */
export class FakeSandbox implements Sandbox {
  readonly started: string[] = [];
  readonly hooks: ProcessCall[] = [];
  readonly toldWaiting: WaitingEvents[] = [];
  readonly pending = new Map<string, Pending>();
  private readonly stopped: (() => void)[] = [];
  private living = true;

  constructor(
    readonly spec: SandboxSpec,
    private readonly script: Script,
  ) {}

  run(request: RunRequest): Promise<RunOutcome> {
    this.started.push(request.invocationId);
    if (this.script.auto) return Promise.resolve(this.script.auto(request));
    return new Promise((resolve, reject) => this.pending.set(request.invocationId, { resolve, reject, request }));
  }

  hook(hook: ProcessCall, timeoutMs: number): Promise<RunOutcome> {
    this.hooks.push(hook);
    const killed = new Promise<RunOutcome>((resolve) => this.stopped.push(() => resolve(ok({ status: 'killed' }))));
    return Promise.race([killed, this.script.hook?.(hook, timeoutMs) ?? Promise.resolve(hookOutcome)]);
  }

  ask(): Promise<RunOutcome> {
    return Promise.reject(new Error('a source makes no call'));
  }

  isSpent(): boolean {
    return false;
  }

  tellWaiting(events: WaitingEvents): void {
    this.toldWaiting.push(events);
  }

  /** Returns the runs beyond the concurrency limit as not started. */
  drain(): void {
    this.living = false;
    for (const [id, { reject }] of [...this.pending].slice(this.spec.concurrency)) {
      reject(new SandboxGone('dc_1', 'drained'));
      this.pending.delete(id);
    }
  }

  alive(): boolean {
    return this.living;
  }

  cpuMs(): number {
    return 0;
  }

  end(id: string, outcome = ok()): void {
    this.pending.get(id)?.resolve(outcome);
    this.pending.delete(id);
  }

  /** Dies before any of its runs has started. */
  die(): void {
    this.living = false;
    for (const { reject } of this.pending.values()) reject(new SandboxGone('dc_1', 'killed'));
    this.pending.clear();
  }

  /** Ends all runs as killed, as the port requires. */
  async stop(): Promise<void> {
    this.living = false;
    for (const { resolve } of this.pending.values()) resolve(ok({ status: 'killed' }));
    this.pending.clear();
    for (const kill of this.stopped.splice(0)) kill();
  }
}
