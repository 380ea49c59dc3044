import { Inject, Injectable } from '@nestjs/common';
import { Semaphore } from '#libs/async/semaphore.js';
import { SharedAnswers } from '#libs/async/shared-answers.js';
import { type Clock } from '#libs/kernel/clock.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { type CountedMinute } from '#libs/tenancy/published.js';
import { HOLDINGS, type HoldingsReader, MINUTES, type MinuteReader } from '../ports.js';
import { type Waiting, WaitingWork } from '../waiting-work.js';
import { type Problem, Problems } from './problems.js';

export interface WorkspaceStats {
  /** Epoch milliseconds at which they were computed. */
  readonly now: number;
  /** Of the last hour, the present one last. */
  readonly minutes: readonly CountedMinute[];
  readonly waiting: Waiting;
  readonly sources: number;
  readonly webhooks: number;
  readonly problems: readonly Problem[];
}

/** Minutes that are shown at most. */
export const MOST_MINUTES = 60;
/** Time for which they are given to all who ask. */
const KEPT_MS = 1_000;
/** Workspaces whose stats are kept, and are computed at once. */
const [MOST_KEPT, AT_ONCE] = [200, 2];

/** Computes what goes on in workspaces, once a second for each, whoever asks. */
@Injectable()
export class StatsOfWorkspaces {
  private readonly answers: SharedAnswers<WorkspaceStats>;
  private readonly turns = new Semaphore(AT_ONCE, () => 1);

  constructor(
    @Inject(MINUTES) private readonly minutes: MinuteReader,
    @Inject(HOLDINGS) private readonly holdings: HoldingsReader,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly waitingWork: WaitingWork,
    private readonly problems: Problems,
  ) {
    this.answers = new SharedAnswers({
      find: (workspaceId) => this.turns.run(workspaceId, () => this.compute(workspaceId)),
      keptMs: KEPT_MS,
      most: MOST_KEPT,
      now: () => performance.now(),
    });
  }

  of(workspaceId: string): Promise<WorkspaceStats> {
    return this.answers.of(workspaceId);
  }

  private async compute(workspaceId: string): Promise<WorkspaceStats> {
    const now = this.clock.now();
    const held = await this.holdings.of(workspaceId);
    const minutes = await this.minutes.ofMinutes(workspaceId, MOST_MINUTES);
    const { waiting, webhookIds } = await this.waitingWork.of(workspaceId, held);
    const problems = await this.problems.of(workspaceId, held, webhookIds, now);
    return { now, minutes, waiting, sources: held.sources.length, webhooks: held.webhooks.length, problems };
  }
}
