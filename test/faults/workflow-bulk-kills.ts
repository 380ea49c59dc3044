import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type ApiClient, type Data, type Paged, UnexpectedReply } from '#test/harness/api-client.js';
import { eventually } from '#test/harness/wait.js';
import { type RoundsGoOn, untilAnswered } from './repeated-requests.js';
import { type RunRecord } from './workflow-kills-checks.js';

/** Runs of one bulk replay. At this rate it takes as long as most rounds, so that most kills meet one. */
const CHOSEN = 20;
const RATE = 10;
/** Between looks for runs that have ended. */
const LOOK_MS = 200;
const END_TIMEOUT_MS = 120_000;

interface Matched {
  readonly id: string;
  readonly matched: number;
}

interface Begun extends Matched {
  readonly chosen: readonly string[];
}

interface Progress {
  readonly state: string;
  readonly started: number;
  readonly passed_over: number;
  readonly waiting: number;
}

/** Bulk replays of one workflow, whose server is killed while they go on. */
export class BulkReplays {
  private readonly begun: Begun[] = [];
  private readonly taken = new Set<string>();
  /** Chosen in requests without an answer when the rounds ended, which may have begun a bulk replay or not. */
  private readonly unanswered = new Set<string>();
  private readonly beginning: Promise<void>[] = [];
  private isEnding = false;

  constructor(
    private readonly api: ApiClient,
    private readonly workflowId: string,
    private readonly rounds: RoundsGoOn,
  ) {}

  get count(): number {
    return this.begun.length;
  }

  /**
   * Begins one of ended runs that none has chosen before, unless as many run as may. The request is repeated with its key
   * until it is answered, so a kill may come before, between and after what it writes.
   */
  begin(onFailure: (error: unknown) => void): void {
    this.beginning.push(this.beginOne().catch(onFailure));
  }

  private async beginOne(): Promise<void> {
    const chosen = await this.chosenSoon();
    if (chosen.length === 0) return;
    const headers = { 'idempotency-key': randomUUID() };
    const matched = await untilAnswered(this.rounds, async () => {
      const body = { run_ids: chosen, rate: RATE };
      const reply = await this.api.call<Data<Matched>>('POST', this.path, { body, headers });
      if (reply.status === 202) return reply.body.data;
      if (reply.status === 409 && reply.text.includes('limit_reached')) return 'none';
      if (reply.status === 409 || reply.status >= 500) return undefined;
      throw new UnexpectedReply('a bulk replay', reply);
    });
    if (matched === 'none') for (const id of chosen) this.taken.delete(id);
    else if (matched) this.begun.push({ ...matched, chosen });
    else for (const id of chosen) this.unanswered.add(id);
  }

  /** Resolves with what went wrong once all of them have ended. */
  async ended(): Promise<readonly string[]> {
    this.isEnding = true;
    await Promise.all(this.beginning);
    const problems: string[] = [];
    for (const { id, chosen, matched } of this.begun) {
      const progress = await eventually(
        `bulk replay ${id} has ended`,
        async () => {
          const { data } = await this.api.expect<Data<Progress>>(200, 'GET', `${this.path}/${id}`);
          return data.state === 'running' ? undefined : data;
        },
        END_TIMEOUT_MS,
        200,
      ).catch((error: unknown) => void problems.push(String(error)));
      if (matched !== chosen.length) problems.push(`${id} matched ${matched} of ${chosen.length} runs`);
      if (progress && (progress.state !== 'finished' || progress.started !== matched || progress.passed_over > 0))
        problems.push(`${id} of ${matched} runs is ${JSON.stringify(progress)}`);
    }
    return problems;
  }

  /** What is wrong with the replays of all chosen runs, of which there must be one each where a request was answered. */
  problemsOf(records: Iterable<RunRecord>): readonly string[] {
    const replays = new Map<string, string[]>();
    for (const { id, replay_of: of } of records) if (of !== null) replays.set(of, [...(replays.get(of) ?? []), id]);
    return [
      ...[...this.taken]
        .filter((id) => replays.get(id)?.length !== 1 && (replays.has(id) || !this.unanswered.has(id)))
        .map((id) => `${id} was replayed as ${replays.get(id)?.join(', ') ?? 'no run'}`),
      ...[...replays.keys()].filter((id) => !this.taken.has(id)).map((id) => `${id} was replayed and not chosen`),
    ];
  }

  /** Waits for runs that have ended, at the end of the rounds only if none was ever chosen. */
  private async chosenSoon(): Promise<readonly string[]> {
    while (this.rounds.goesOn()) {
      const chosen = (await untilAnswered(this.rounds, () => this.choose())) ?? [];
      if (chosen.length > 0 || (this.isEnding && this.taken.size > 0)) return chosen;
      await pause(LOOK_MS);
    }
    return [];
  }

  private get path(): string {
    return `/v1/workflows/${this.workflowId}/runs/replay`;
  }

  private async choose(): Promise<readonly string[]> {
    const query = { state: 'succeeded', limit: '100' };
    const { data } = await this.api.expect<Paged<RunRecord>>(200, 'GET', `/v1/workflows/${this.workflowId}/runs`, {
      query,
    });
    const free = data.filter(({ id, replay_of: of }) => of === null && !this.taken.has(id));
    const chosen = free.slice(0, CHOSEN).map(({ id }) => id);
    for (const id of chosen) this.taken.add(id);
    return chosen;
  }
}
