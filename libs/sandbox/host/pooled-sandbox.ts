import { type Clock } from '../../kernel/clock.js';
import { type WaitingEvents } from '../../component-model/delayed-limits.js';
import { type ProcessCall } from '../../component-model/hooks.js';
import { type RunOutcome, type RunRequest, type Sandbox } from '../sandbox.js';

/** Process of a source in the pool, or a request for one. */
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
  ) {}

  usable(): boolean {
    return !this.drains && (!this.inner || this.inner.alive());
  }

  readonly ended = (clock: Clock): void => {
    this.usedAt = clock.now();
    if (--this.going === 0) this.onIdle();
  };
}

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
