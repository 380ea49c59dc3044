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
import { type WebhookDoc, webhooksProjection } from '../read-models/webhooks.projection.js';

/** Attempts that a stream that resumes shows at most, the newest. */
const MOST_KEPT = 2_000;
/** An attempt is kept by the time of its start, and recorded at its end. No webhook has more time. */
const LONGEST_ATTEMPT_MS = 35_000;
const PAGE = 100;
/** Concurrent resumptions of the process and of one user. */
const READS = 4;
const READS_PER_USER = 2;

interface LiveAttempt {
  readonly doc: AttemptDoc;
  readonly shown: Shown;
}

const endOf = ({ ts, ms }: AttemptDoc): number => Math.floor(ts + ms);

const shownAttempt = (doc: AttemptDoc): Shown =>
  shownRecord(
    'deliveries',
    { at: endOf(doc), id: doc.id },
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
    let found: AttemptDoc[] = [];
    let gap = 0;
    for (const webhookId of asked.webhookId === undefined ? await this.webhooksOf(asked) : [asked.webhookId]) {
      if (isOver()) break;
      const docs = await this.attemptsOf(webhookId, since);
      const oldest = docs.at(-1);
      if (oldest && docs.length >= RETAINED_ATTEMPTS && !(await this.hasOlder(webhookId, since)))
        gap = Math.max(gap, endOf(oldest));
      found.push(...docs.filter((doc) => isAsked(asked, doc) && endOf(doc) >= since));
      if (found.length <= MOST_KEPT) continue;
      found = found.sort((a, b) => endOf(b) - endOf(a)).slice(0, MOST_KEPT);
      gap = Math.max(gap, ...found.slice(-1).map(endOf));
    }
    found.sort((a, b) => endOf(a) - endOf(b));
    return { ...(gap === 0 ? {} : { gap }), records: shownOf(found) };
  }

  /** Newest first. */
  private async attemptsOf(webhookId: string, since: number): Promise<readonly AttemptDoc[]> {
    const { docs } = await this.readModels.page<AttemptDoc>(deliveryAttempts, {
      where: { webhookId },
      from: attemptSort(Math.max(0, since - LONGEST_ATTEMPT_MS), ''),
      limit: 2 * RETAINED_ATTEMPTS,
      withTotal: false,
    });
    return docs;
  }

  /** What is older is removed first. */
  private async hasOlder(webhookId: string, since: number): Promise<boolean> {
    const query = { where: { webhookId }, to: attemptSort(Math.max(0, since), ''), limit: 1, withTotal: false };
    return (await this.readModels.page(deliveryAttempts, query)).docs.length > 0;
  }

  private async webhooksOf({ workspaceId }: Asked): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let after: string | undefined; ;) {
      const query = {
        where: { workspaceId },
        limit: PAGE,
        withTotal: false,
        ...(after === undefined ? {} : { after }),
      };
      const { docs } = await this.readModels.page<WebhookDoc>(webhooksProjection.schema, query);
      ids.push(...docs.map(({ id }) => id));
      after = docs.at(-1)?.id;
      if (docs.length < PAGE) return ids;
    }
  }
}

/** Encodes each when it is asked for. */
async function* shownOf(docs: readonly AttemptDoc[]): AsyncGenerator<Shown> {
  for (const doc of docs) yield Promise.resolve(shownAttempt(doc));
}
