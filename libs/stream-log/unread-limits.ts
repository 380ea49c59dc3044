import { type Refusal } from './refusal.js';
import { DELIVERIES, INVOCATIONS, type TopicPolicy } from './topics.js';

/** Limits on unread bytes. Unread records are never dropped, so new ones are refused or wait where they are made. */
export interface UnreadSettings {
  /**
   * Limit on a source's unfinished invocations, and on a webhook's deliveries, including those that wait for a retry.
   */
  readonly laneBytes: number;
  /** Limit on a source's emits that are not routed. */
  readonly emitsBytes: number;
  /**
   * Limit on the sum of both over a workspace. Above it, events of sources with more than an equal share are refused.
   */
  readonly workspaceBytes: number;
}

/** Returns the bytes that the consumers of a lane have not acknowledged. */
export type UnreadOf = (lane: string) => number;

export interface UnreadBytes {
  readonly invocations: UnreadOf;
  readonly emits: UnreadOf;
  readonly deliveries: UnreadOf;
  /** Bytes of a webhook's deliveries that wait for their next attempt, outside its lane. */
  readonly waiting: (webhookId: string) => number;
}

export interface UnreadLimitsDependencies {
  readonly topics: TopicPolicy;
  readonly settings: UnreadSettings;
  readonly sources: () => Iterable<readonly [id: string, source: { readonly workspaceId: string }]>;
  readonly now: () => number;
}

/** Unread bytes of a workspace, and the number of its sources that have some. */
interface WorkspaceSum {
  readonly bytes: number;
  readonly sources: number;
}

const NOTHING: WorkspaceSum = { bytes: 0, sources: 0 };
const RETRY_AFTER_S = 5;
/** Longest time that the sums of workspaces stay valid. */
const SUMS_MS = 1_000;
const MB = 1024 * 1024;

/**
 * Applies back-pressure to unread records. Arrivals are refused (`refusal`), the router sends nothing to a full
 * listener (`isFull`), and a source with too many unrouted emits does not run (`isPaused`). Works only where each
 * source has topics of its own, because a shared lane does not know how many bytes each owner has.
 */
export class UnreadLimits {
  private invocations: UnreadOf = () => 0;
  private emits: UnreadOf = () => 0;
  private deliveries: UnreadOf = () => 0;
  private waiting: (webhookId: string) => number = () => 0;
  private sums = new Map<string, WorkspaceSum>();
  private sumsAt = Number.NEGATIVE_INFINITY;
  private readonly perSource: boolean;

  constructor(private readonly deps: UnreadLimitsDependencies) {
    this.perSource = deps.topics.ownedBy('dc_').length > 0;
  }

  /** Sets the functions that count unread bytes, once the consumers run. Until then nothing counts as unread. */
  count(unread: UnreadBytes): void {
    ({ invocations: this.invocations, emits: this.emits, deliveries: this.deliveries, waiting: this.waiting } = unread);
  }

  /** Returns undefined when the source may receive one more event. */
  refusal(sourceId: string, workspaceId: string): Refusal | undefined {
    const { settings } = this.deps;
    const waiting = this.unreadInvocations(sourceId);
    if (waiting > settings.laneBytes) return refused('events that wait for this source', waiting, settings.laneBytes);
    const emits = this.unreadEmits(sourceId);
    if (emits > settings.emitsBytes) return refused('events that this source emitted', emits, settings.emitsBytes);
    const { bytes, sources } = this.workspace(workspaceId);
    if (bytes <= settings.workspaceBytes) return undefined;
    const share = settings.workspaceBytes / Math.max(1, sources);
    if (waiting + emits <= share) return undefined;
    const ofWorkspace = `, of ${Math.ceil(bytes / MB)} MB in its workspace, whose limit is ${Math.floor(settings.workspaceBytes / MB)} MB for ${sources} sources,`;
    return refused(`events of this source${ofWorkspace}`, waiting + emits, share);
  }

  /** True when a topic of invocations or deliveries is above its limit. */
  isFull(topic: string): boolean {
    if (!this.perSource) return false;
    const { laneBytes } = this.deps.settings;
    if (topic.startsWith(INVOCATIONS)) return this.invocations(topic) > laneBytes;
    if (!topic.startsWith(DELIVERIES)) return false;
    // Counts waiting retries too, because a dead endpoint's lane is empty: its deliveries move to the due store.
    return this.deliveries(topic) + this.waiting(topic.slice(DELIVERIES.length)) > laneBytes;
  }

  isPaused(sourceId: string): boolean {
    return this.unreadEmits(sourceId) > this.deps.settings.emitsBytes;
  }

  private unreadInvocations(sourceId: string): number {
    return this.perSource ? this.invocations(this.deps.topics.invocations(sourceId)) : 0;
  }

  private unreadEmits(sourceId: string): number {
    return this.perSource ? this.emits(this.deps.topics.emits(sourceId)) : 0;
  }

  private workspace(workspaceId: string): WorkspaceSum {
    const now = this.deps.now();
    if (now - this.sumsAt >= SUMS_MS || now < this.sumsAt) {
      this.sumsAt = now;
      this.sums = new Map();
      for (const [id, { workspaceId: of }] of this.perSource ? this.deps.sources() : []) {
        const unread = this.unreadInvocations(id) + this.unreadEmits(id);
        if (unread === 0) continue;
        const { bytes, sources } = this.sums.get(of) ?? NOTHING;
        this.sums.set(of, { bytes: bytes + unread, sources: sources + 1 });
      }
    }
    return this.sums.get(workspaceId) ?? NOTHING;
  }
}

const refused = (what: string, bytes: number, limit: number): Refusal => ({
  status: 429,
  code: 'unread_limit',
  retryAfterS: RETRY_AFTER_S,
  text:
    `${what} hold ${Math.ceil(bytes / MB)} MB that are not processed yet, above the limit of ${Math.floor(limit / MB)} MB: ` +
    `send again when there is less; nothing that was accepted is lost`,
});
