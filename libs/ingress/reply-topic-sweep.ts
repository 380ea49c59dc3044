import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { REPLIES } from './reply-records.js';

export interface ReplyTopicSweepOptions {
  readonly log: Pick<StreamLog, 'topics' | 'deleteTopic'>;
  /** The ids of all registered processes, silent ones included. */
  readonly registered: () => Promise<readonly string[]>;
  readonly logger: { warn(fields: object, message: string): void };
  /** Time for which a process must be absent from the registry, in milliseconds. Default: a minute. */
  readonly absentMs?: number;
  /** Monotonic, in ms. */
  readonly now?: () => number;
}

interface Absence {
  readonly since: number;
  looks: number;
}

const ABSENT_MS = 60_000;
/** A pass may be late, because its own process was stopped. */
const LOOKS = 3;

/**
 * Deletes the topics of processes that ended without closing their channel. A process is gone when several consecutive
 * passes found it absent from the registry. One pass is not enough, because a silent process registers again. A mistake
 * does little harm, because a process creates its own topic again.
 */
export class ReplyTopicSweep {
  private readonly absent = new Map<string, Absence>();

  constructor(private readonly options: ReplyTopicSweepOptions) {}

  /** Runs one pass. Resolves with the ids of the processes whose topics were deleted. */
  async pass(): Promise<readonly string[]> {
    const { log, registered, logger, absentMs = ABSENT_MS, now = (): number => performance.now() } = this.options;
    // Topics are read first, because a process registers before it creates its topic.
    const ids = (await log.topics(REPLIES)).map((topic) => topic.slice(REPLIES.length));
    const known = new Set(await registered());
    const at = now();
    const gone: string[] = [];
    for (const id of this.absent.keys()) if (known.has(id) || !ids.includes(id)) this.absent.delete(id);
    for (const id of ids) {
      if (known.has(id)) continue;
      const absence = this.absent.get(id) ?? { since: at, looks: 0 };
      this.absent.set(id, absence);
      absence.looks++;
      if (absence.looks >= LOOKS && at - absence.since >= absentMs) gone.push(id);
    }
    for (const id of gone) {
      await log.deleteTopic(REPLIES + id);
      this.absent.delete(id);
    }
    if (gone.length > 0)
      logger.warn({ processes: gone }, 'replies.swept: their processes have not been registered for a while');
    return gone;
  }
}
