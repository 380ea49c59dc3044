import { type HookName } from '../../component-model/hooks.js';
import {
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
} from '../../sandbox/sandbox.js';

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
  /** How runs end. Absent: when the test says so. */
  readonly auto?: (request: RunRequest) => RunOutcome;
  /** Default: hooks emit and store something, at once. */
  readonly hook?: (hook: HookName, timeoutMs: number) => Promise<RunOutcome>;
}

export const hookOutcome = ok({ emits: [{ payload: '"hook"', channel: '' }], dbChanges: { hook: '1' } });

interface Pending {
  readonly resolve: (outcome: RunOutcome) => void;
  readonly reject: (error: Error) => void;
  readonly request: RunRequest;
}

/** A process of a source, without one. */
export class FakeSandbox implements Sandbox {
  readonly started: string[] = [];
  readonly hooks: HookName[] = [];
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

  hook(hook: HookName, timeoutMs: number): Promise<RunOutcome> {
    this.hooks.push(hook);
    const killed = new Promise<RunOutcome>((resolve) => this.stopped.push(() => resolve(ok({ status: 'killed' }))));
    return Promise.race([killed, this.script.hook?.(hook, timeoutMs) ?? Promise.resolve(hookOutcome)]);
  }

  /** As many have started as may at once. */
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

  /** Ends before it started what it was given. */
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
    for (const kill of this.stopped.splice(0)) kill();
  }
}
