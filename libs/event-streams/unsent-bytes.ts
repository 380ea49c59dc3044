import { shareOfHeap } from '#libs/kernel/heap-share.js';

/** User and workspace of a stream's reader. */
export interface StreamReader {
  /** Null for a reader without a key, of a workflow that is open to all. */
  readonly apiKeyId: string | null;
  readonly userId: string;
  readonly workspaceId: string;
}

export const readerOf = (
  { apiKeyId, userId }: { readonly apiKeyId: string; readonly userId: string },
  workspaceId: string,
): StreamReader => ({ apiKeyId, userId, workspaceId });

/** The readers without a key of a workspace count as one user. */
export const publicReader = (workspaceId: string): StreamReader => ({
  apiKeyId: null,
  userId: `public ${workspaceId}`,
  workspaceId,
});

/** Limits in bytes on the memory of the streams of a user, of a workspace and of the process. */
export type UnsentLimits = Readonly<Record<Scope, number>>;
export type Scope = 'user' | 'workspace' | 'process';

const MB = 1 << 20;
/** Room for several of the largest events (stream-log/record-limits.ts) of one user, also on a small heap. */
const LEAST_IN_ALL = 64 * MB;
/** Memory of a stream's reference to a buffer, so that many small events count too. */
const REFERENCE_BYTES = 64;

/** A quarter of the process's share for a user and half of it for a workspace, so that neither uses all of it. */
export const unsentLimits = (share: number = shareOfHeap()): UnsentLimits => {
  const inAll = Math.max(share, LEAST_IN_ALL);
  return { user: inAll / 4, workspace: inAll / 2, process: inAll };
};

export interface Holder {
  readonly scope: Scope;
  /** Id of the user or workspace; empty for the process. */
  readonly holder: string;
}

interface Account extends Holder {
  bytes: number;
  /** Number of streams that hold each shared buffer. */
  readonly shared: Map<Buffer, number>;
}

/**
 * Memory that open streams need until their readers have read the events. A buffer that several streams of a user (a
 * workspace, the process) share is in memory once, and counts once.
 */
export class UnsentBytes {
  private readonly accounts = new Map<string, Account>();
  private readonly exceeded = new Set<Account>();

  constructor(private readonly limits: UnsentLimits) {}

  /** Counts bytes of this reader's stream alone. A negative number subtracts. */
  hold(reader: StreamReader, bytes: number): void {
    for (const account of this.accountsOf(reader)) this.add(account, bytes);
  }

  /** Counts a buffer that streams share. Obliges to `unshare`. */
  share(reader: StreamReader, buffer: Buffer): void {
    for (const account of this.accountsOf(reader)) {
      const uses = account.shared.get(buffer) ?? 0;
      account.shared.set(buffer, uses + 1);
      this.add(account, REFERENCE_BYTES + (uses === 0 ? buffer.length : 0));
    }
  }

  unshare(reader: StreamReader, buffer: Buffer): void {
    for (const account of this.accountsOf(reader)) {
      const uses = (account.shared.get(buffer) ?? 1) - 1;
      if (uses > 0) account.shared.set(buffer, uses);
      else account.shared.delete(buffer);
      this.add(account, -REFERENCE_BYTES - (uses > 0 ? 0 : buffer.length));
    }
  }

  heldBy(scope: Scope, holder: string): number {
    return this.accounts.get(keyOf(scope, holder))?.bytes ?? 0;
  }

  /** An account above its limit, of the smallest scope first. */
  over(): Holder | undefined {
    for (const scope of SCOPES) for (const account of this.exceeded) if (account.scope === scope) return account;
    return undefined;
  }

  isOver({ scope, holder }: Holder): boolean {
    return this.heldBy(scope, holder) > this.limits[scope];
  }

  /** The holder of the most bytes. Some must be held. */
  largest(scope: Scope): Holder {
    let largest: Account = { scope, holder: '', bytes: -1, shared: new Map() };
    for (const account of this.accounts.values())
      if (account.scope === scope && account.bytes > largest.bytes) largest = account;
    return largest;
  }

  private add(account: Account, bytes: number): void {
    account.bytes += bytes;
    if (account.bytes > this.limits[account.scope]) this.exceeded.add(account);
    else this.exceeded.delete(account);
    if (account.bytes === 0) this.accounts.delete(keyOf(account.scope, account.holder));
  }

  private accountsOf({ userId, workspaceId }: StreamReader): readonly Account[] {
    return [this.account('user', userId), this.account('workspace', workspaceId), this.account('process', '')];
  }

  private account(scope: Scope, holder: string): Account {
    const key = keyOf(scope, holder);
    let account = this.accounts.get(key);
    if (!account) this.accounts.set(key, (account = { scope, holder, bytes: 0, shared: new Map() }));
    return account;
  }
}

const SCOPES: readonly Scope[] = ['user', 'workspace', 'process'];
const keyOf = (scope: Scope, holder: string): string => `${scope} ${holder}`;
