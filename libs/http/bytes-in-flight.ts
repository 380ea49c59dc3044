import { Budget, type Holders, type OverBudget } from '#libs/async/budget.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { shareOfHeap } from '#libs/kernel/heap-share.js';
import { type Caller } from './callers.js';

export const BYTES_IN_FLIGHT = Symbol('BytesInFlight');

/** User and workspace that bytes count for, besides the process. */
export type ByteHolders = Holders<'user' | 'workspace'>;

/**
 * A request of the API counts for the caller and the workspace in which it acts. A request that names no workspace
 * counts for that of the caller's account, so that no membership fills the budget of another user's workspace.
 */
export const holdersOf = ({ userId, named, home, workspaceIds: [only, ...others] }: Caller): ByteHolders => {
  const workspace = named ?? home ?? (others.length === 0 ? only : undefined);
  return workspace === undefined ? { user: userId } : { user: userId, workspace };
};

/**
 * Bytes that requests hold for a client that sends or reads them slowly, bounded for a user, a workspace and the process.
 * See docs/reference/limits.md#bytes-in-flight.
 */
export class BytesInFlight {
  private readonly budget: Budget<'user' | 'workspace'>;

  constructor(
    private readonly what: 'request bodies on their way in' | 'answers that are not read yet',
    limits: Readonly<Record<'user' | 'workspace' | 'process', number>>,
  ) {
    this.budget = new Budget<'user' | 'workspace'>(limits);
  }

  get inUse(): number {
    return this.budget.inUse;
  }

  /**
   * Holds the bytes until `release`. Holds nothing and returns the error, 429 with both numbers, where they do not fit.
   */
  tryHold(holders: ByteHolders, bytes: number): DomainError | undefined {
    const over = this.budget.tryHold(holders, bytes);
    return over && this.refusal(over);
  }

  /** Like `tryHold`, but holds nothing: for bytes that exist already or may never arrive. */
  refusalOf(holders: ByteHolders, bytes: number): DomainError | undefined {
    const over = this.budget.over(holders, bytes);
    return over && this.refusal(over);
  }

  /** Holds bytes that exist already, also above a limit, until `release`. */
  hold(holders: ByteHolders, bytes: number): void {
    this.budget.hold(holders, bytes);
  }

  release(holders: ByteHolders, bytes: number): void {
    if (bytes > 0) this.budget.release(holders, bytes);
  }

  private refusal({ scope, limit, actual }: OverBudget<'user' | 'workspace'>): DomainError {
    const whose = scope === 'process' ? 'of all users of this process' : `of this ${scope}`;
    return new DomainError(
      'request.too_much_in_flight',
      `${this.what}, ${whose}, would be ${actual} bytes with this one, the limit is ${limit}: ` +
        'let earlier requests end, then send it again',
      { limit, actual, scope },
    );
  }
}

/** Bytes of requests and answers in a process, shared by its API and endpoints. */
export interface HttpBytes {
  readonly bodies: BytesInFlight;
  readonly answers: BytesInFlight;
  /** Bytes that a page of whole events may have. */
  readonly pageBytes: number;
}

/**
 * Makes the limits of a process. One user alone cannot exhaust them, and always has room for one request.
 *
 * @param bodyBytes size of the largest body.
 * @param pageBytes size of the largest page.
 */
export const httpBytes = (bodyBytes: number, pageBytes: number, share: number = shareOfHeap()): HttpBytes => ({
  bodies: new BytesInFlight('request bodies on their way in', {
    user: Math.max(share / 8, 2 * bodyBytes),
    workspace: Math.max(share / 4, 4 * bodyBytes),
    process: Math.max(share, 8 * bodyBytes),
  }),
  answers: new BytesInFlight('answers that are not read yet', {
    user: Math.max((share * 5) / 8, 2 * pageBytes),
    workspace: Math.max((share * 3) / 4, 2 * pageBytes),
    process: Math.max(share, 3 * pageBytes),
  }),
  pageBytes,
});
