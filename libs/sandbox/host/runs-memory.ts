/** Memory budget of all runs in flight, with the rule that no process waits indefinitely (docs/adr/0006). */

/** Time for which the holder of the pass may keep others waiting before its largest run is ended. */
const PASS_MS = 10_000;

/** Commands of the budget to the process of a source. */
export interface MemoryUser {
  /** Stop reading from the process. */
  pause(): void;
  /** Resume reading. More invocations may be sent. */
  resume(): void;
  /** End the run that holds the most memory, because other processes wait for it. */
  endLargest(): void;
}

export interface RunsMemoryOptions {
  readonly bytes: number;
  /** Calls back after `ms`. Returns a function that cancels it. Default: an unreferenced timer. */
  readonly later?: (ms: number, call: () => void) => () => void;
}

const timer = (ms: number, call: () => void): (() => void) => {
  const timeout = setTimeout(call, ms);
  timeout.unref();
  return () => clearTimeout(timeout);
};

/**
 * Counts the server's memory for runs: events sent to processes, output of runs, and outcomes not yet committed.
 *
 * Below half of the budget, no process waits. Above it, the server pauses reading from a process that holds more than
 * its share of the other half. One process holds the pass and is read until all that it holds is committed. So one
 * process can always finish, and the wait of the others ends.
 */
export class RunsMemory {
  private readonly accounts = new Set<MemoryAccount>();
  private readonly waiting = new Set<MemoryAccount>();
  private pass: MemoryAccount | undefined;
  private cancel: (() => void) | undefined;
  private total = 0;
  private most = 0;

  constructor(private readonly options: RunsMemoryOptions) {}

  /** Opens the account of one process. */
  open(user: MemoryUser): MemoryAccount {
    const account = new MemoryAccount(user, {
      changed: (bytes) => {
        this.total += bytes;
        this.most = Math.max(this.most, this.total);
      },
      applyBackPressure: (each) => this.applyBackPressure(each),
      maySend: (each) => this.maySend(each),
      freed: (each) => this.freed(each),
    });
    this.accounts.add(account);
    return account;
  }

  stats(): { readonly bytes: number; readonly most: number; readonly waiting: number } {
    return { bytes: this.total, most: this.most, waiting: this.waiting.size };
  }

  /** Called after a read from the account's process, and before more is sent to it. */
  private applyBackPressure(account: MemoryAccount): void {
    if (account.closed) return this.leave(account);
    if (!this.mustWait(account)) return;
    if (account.mayBeCommitted(this.committing())) {
      this.pass ??= account;
      if (this.pass === account) return this.limitPass();
    }
    if (this.waiting.has(account)) return;
    this.waiting.add(account);
    account.user.pause();
    this.limitPass();
  }

  /** The holder of the pass takes nothing more either, because otherwise it would never commit all that it holds. */
  private maySend(account: MemoryAccount): boolean {
    if (account.mayBeCommitted(this.committing()) && !this.isOver(account)) return true;
    this.applyBackPressure(account);
    return false;
  }

  private freed(account: MemoryAccount): void {
    if (account.closed && account.held === 0) this.accounts.delete(account);
    const holder = this.pass;
    if (holder && !this.isOver(holder)) {
      this.endPass();
      if (!this.waiting.has(holder)) holder.user.resume();
    }
    if (this.waiting.size > 0) this.wakeWaiting();
  }

  private wakeWaiting(): void {
    for (const account of [...this.waiting]) {
      if (account.closed) this.waiting.delete(account);
      else if (!this.mustWait(account)) this.wake(account);
      else if (!this.pass && account.mayBeCommitted(this.committing())) {
        this.pass = account;
        this.wake(account);
      }
    }
    this.limitPass();
  }

  private leave(account: MemoryAccount): void {
    this.waiting.delete(account);
    if (this.pass === account) this.endPass();
    this.freed(account);
  }

  private wake(account: MemoryAccount): void {
    this.waiting.delete(account);
    account.user.resume();
  }

  private endPass(): void {
    this.pass = undefined;
    this.cancel?.();
    this.cancel = undefined;
  }

  /** Limits how long runs that do not end may hold the pass while others wait. */
  private limitPass(): void {
    if (!this.pass || this.cancel || this.waiting.size === 0) return;
    this.cancel = (this.options.later ?? timer)(PASS_MS, () => {
      this.cancel = undefined;
      const holder = this.pass;
      if (holder && this.waiting.size > 0 && holder.open > this.share()) holder.user.endLargest();
      this.limitPass();
    });
  }

  private mustWait(account: MemoryAccount): boolean {
    return !account.mayBeCommitted(this.committing()) || (this.isOver(account) && this.pass !== account);
  }

  private isOver(account: MemoryAccount): boolean {
    return this.total > this.half() && account.held > this.share();
  }

  private share(): number {
    let holders = 0;
    for (const { held } of this.accounts) if (held > 0) holders++;
    return this.half() / Math.max(holders, 1);
  }

  /** Bytes of uncommitted outcomes beyond which a process waits for their commit, whatever the others hold. */
  private committing(): number {
    return this.half() / 4;
  }

  private half(): number {
    return this.options.bytes / 2;
  }
}

interface Budget {
  changed(bytes: number): void;
  applyBackPressure(account: MemoryAccount): void;
  maySend(account: MemoryAccount): boolean;
  freed(account: MemoryAccount): void;
}

/** Memory held for the process of one source. */
export class MemoryAccount {
  /** Bytes held for runs in progress. */
  open = 0;
  private uncommitted = 0;
  closed = false;

  constructor(
    readonly user: MemoryUser,
    private readonly budget: Budget,
  ) {}

  get held(): number {
    return this.open + this.uncommitted;
  }

  mayBeCommitted(limit: number): boolean {
    return this.uncommitted <= limit;
  }

  /** Adds bytes for a run in progress. A negative number subtracts. */
  hold(bytes: number): void {
    this.open += bytes;
    this.budget.changed(bytes);
  }

  /** Pauses reading from the process if it must wait for the others. */
  applyBackPressure(): void {
    this.budget.applyBackPressure(this);
  }

  /** True when more may be sent to the process. If false, the budget calls `resume` later. */
  maySend(): boolean {
    return this.budget.maySend(this);
  }

  /** Notes the end of a run. Returns an idempotent function that releases the bytes of its outcome. */
  ended(bytes: number): () => void {
    this.open -= bytes;
    this.uncommitted += bytes;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.uncommitted -= bytes;
      this.budget.changed(-bytes);
      this.budget.freed(this);
    };
  }

  /** Notes the end of the process. Its outcomes still count until they are released. */
  close(): void {
    this.closed = true;
    this.budget.applyBackPressure(this);
  }
}
