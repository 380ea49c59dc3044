import { Rounds } from '#libs/async/rounds.js';
import { Semaphore } from '#libs/async/semaphore.js';
import {
  areCaughtUp,
  type Asked,
  isCaughtUp,
  type KeptReader,
  type KeptRecords,
  type LiveRecord,
  type Shown,
  shownRecord,
  type StreamSource,
} from '#libs/event-streams/index.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { attemptsOf } from '#libs/stream-log/attempt-records.js';
import { projectorGroup } from '#libs/stream-log/stream-projector.js';
import { type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { ATTEMPTS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { attemptReply } from '../attempt-reply.js';
import {
  type AttemptDoc,
  attemptDoc,
  attemptSort,
  deliveryAttempts,
  RETAINED_ATTEMPTS,
} from '../read-models/attempts.projection.js';

/** Attempts that a stream that resumes shows at most, the newest. */
const MOST_KEPT = 2_000;
/** An attempt is kept by the time of its start, and recorded at its end. No webhook has more time. */
const LONGEST_ATTEMPT_MS = 35_000;
/** Concurrent resumptions of the process and of one user. */
const READS = 4;
const READS_PER_USER = 2;

interface LiveAttempt {
  readonly doc: AttemptDoc;
  readonly shown: Shown;
}

const endOf = ({ ts, ms }: AttemptDoc): number => Math.floor(ts + ms);

const shownAttempt = (doc: AttemptDoc): Shown =>
  shownRecord('deliveries', { at: endOf(doc), id: doc.id }, () =>
    JSON.stringify({ ...attemptReply(doc), webhook_id: doc.webhookId }),
  );

const liveAttemptsOf = (record: StoredRecord): readonly LiveAttempt[] =>
  attemptsOf(record).map((attempt) => {
    const doc = attemptDoc(attempt);
    return { doc, shown: shownAttempt(doc) };
  });

const isAsked = ({ workspaceId, emitterId, webhookId }: Asked, doc: AttemptDoc): boolean =>
  doc.workspaceId === workspaceId &&
  (emitterId === undefined || doc.emitterId === emitterId) &&
  (webhookId === undefined || doc.webhookId === webhookId);

/** The attempts at deliveries of a workspace's webhooks. */
export class AttemptSource implements StreamSource {
  readonly names = ['deliveries'];
  readonly topics = ATTEMPTS;
  private readonly group = projectorGroup(deliveryAttempts.name);
  private readonly reads = new Semaphore(READS, () => READS_PER_USER);
  private readonly rounds: Rounds<boolean>;

  constructor(
    private readonly log: StreamLog,
    private readonly policy: Pick<TopicPolicy, 'attempts'>,
    private readonly readModels: ReadModelStore,
  ) {
    this.rounds = new Rounds(() => areCaughtUp(log, { group: this.group, prefix: ATTEMPTS }));
  }

  keyOf({ webhookId, workspaceId }: Asked): string {
    return webhookId ?? workspaceId;
  }

  show(live: LiveRecord, asked: Asked): readonly Shown[] {
    return live.once(liveAttemptsOf).flatMap(({ doc, shown }) => (isAsked(asked, doc) ? [shown] : []));
  }

  caughtUp({ webhookId }: Asked): Promise<boolean> {
    if (webhookId === undefined) return this.rounds.run();
    return isCaughtUp(this.log, { group: this.group, topic: this.policy.attempts(), key: webhookId });
  }

  kept(asked: Asked, since: number, reader: KeptReader): Promise<KeptRecords> {
    return this.reads.run(reader.userId, () => this.read(asked, since, reader));
  }

  private async read(asked: Asked, since: number, { isOver }: KeptReader): Promise<KeptRecords> {
    if (isOver()) return { records: shownOf([]) };
    const { workspaceId, webhookId } = asked;
    const { docs } = await this.readModels.page<AttemptDoc>(deliveryAttempts, {
      where: webhookId === undefined ? { workspaceId } : { webhookId },
      from: attemptSort(Math.max(0, since - LONGEST_ATTEMPT_MS), ''),
      limit: MOST_KEPT,
      withTotal: false,
    });
    const gap = gapIn(docs);
    const ended = docs.filter((doc) => isAsked(asked, doc) && endOf(doc) >= since).sort((a, b) => endOf(a) - endOf(b));
    return { ...(gap === undefined ? {} : { gap }), records: shownOf(ended) };
  }
}

/** Of a webhook with as many attempts as are kept, those before the oldest of these may be gone. */
const gapIn = (newestFirst: readonly AttemptDoc[]): number | undefined => {
  const counts = new Map<string, number>();
  const ends = newestFirst.length < MOST_KEPT ? [] : newestFirst.slice(-1).map(endOf);
  for (const doc of newestFirst) {
    const count = (counts.get(doc.webhookId) ?? 0) + 1;
    counts.set(doc.webhookId, count);
    if (count === RETAINED_ATTEMPTS) ends.push(endOf(doc));
  }
  return ends.length === 0 ? undefined : Math.max(...ends);
};

/** Encodes each when it is asked for. */
async function* shownOf(docs: readonly AttemptDoc[]): AsyncGenerator<Shown> {
  for (const doc of docs) yield Promise.resolve(shownAttempt(doc));
}
