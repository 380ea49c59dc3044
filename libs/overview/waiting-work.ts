import { setImmediate as turn } from 'node:timers/promises';
import { SharedAnswers } from '#libs/async/shared-answers.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { EMITS, INVOCATIONS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type BacklogHere, type Holdings, type UnendedDeliveries } from './ports.js';

/** What waits in a workspace; null where it is not known. */
export interface Waiting {
  /** Events whose runs have not ended. */
  readonly invocations: number | null;
  /** Emitted events that no listener has got. */
  readonly emits: number | null;
  /** Deliveries that are not ended. */
  readonly deliveries: number;
  /** When the oldest of them was stored, without those that wait for another attempt. Epoch milliseconds. */
  readonly oldestAt: number | null;
}

export interface WaitingWorkOptions {
  readonly log: Pick<StreamLog, 'lag' | 'committed' | 'read'>;
  readonly topics: Pick<TopicPolicy, 'invocations' | 'emits' | 'deliveries' | 'ownedBy'>;
  readonly deliveries: UnendedDeliveries;
  /** Absent where the roles are other processes. */
  readonly here: BacklogHere | undefined;
  readonly now: () => number;
}

/** Consumer groups of the roles. */
const [RUNNERS, ROUTERS, WORKERS] = ['runner', 'router', 'webhook-worker'];
/** Age that numbers from the log may have, because each reading asks for all lanes. */
const LOGGED_MS = 5_000;
/** Webhooks that are counted in one turn of the event loop. */
const TOGETHER = 100;
/** Most lanes in which the oldest record is looked for. */
const MOST_LANES = 100;

/** Unfinished records by lane. */
interface Logged {
  readonly invocations: Readonly<Record<string, number>>;
  readonly emits: Readonly<Record<string, number>>;
}

/** Tells what waits in a workspace. */
export class WaitingWork {
  /** One reading for all workspaces. */
  private readonly logged: SharedAnswers<Logged>;

  constructor(private readonly options: WaitingWorkOptions) {
    const { log, now } = options;
    this.logged = new SharedAnswers({
      find: async () => {
        const invocations = await log.lag(RUNNERS, { prefix: INVOCATIONS });
        return { invocations, emits: await log.lag(ROUTERS, { prefix: EMITS }) };
      },
      keptMs: LOGGED_MS,
      most: 1,
      now,
    });
  }

  /** Resolves with the ids of the webhooks that have some of it, too. */
  async of(workspaceId: string, holdings: Holdings): Promise<{ waiting: Waiting; webhookIds: readonly string[] }> {
    const unended = await this.deliveriesOf(holdings.webhooks.map(({ id }) => id));
    const waiting = await this.waitingIn(workspaceId, holdings, unended);
    return { waiting, webhookIds: unended.map(({ id }) => id) };
  }

  private async waitingIn(
    workspaceId: string,
    { sources, workflowIds }: Holdings,
    unended: readonly Counted[],
  ): Promise<Waiting> {
    const { topics, here } = this.options;
    const deliveries = total(unended);
    // A lane that resources share does not know whose its records are.
    if (topics.ownedBy('dc_').length === 0) return { invocations: null, emits: null, deliveries, oldestAt: null };
    const runnable = [...sources.map(({ id }) => id), ...workflowIds];
    // The workspace emits what the server did to its resources.
    const emitters = [...runnable, workspaceId];
    if (here) {
      const invoked = counted(runnable, (id) => here.waitingFor(id));
      const emitted = counted(emitters, (id) => here.unroutedOf(id));
      const oldestAt = await this.oldestOf(invoked, emitted, unended);
      return { invocations: total(invoked), emits: total(emitted), deliveries, oldestAt };
    }
    const logged = await this.logged.of('');
    const invoked = counted(runnable, (id) => logged.invocations[topics.invocations(id)] ?? 0);
    const emitted = counted(emitters, (id) => logged.emits[topics.emits(id)] ?? 0);
    return { invocations: total(invoked), emits: total(emitted), deliveries, oldestAt: null };
  }

  private async deliveriesOf(webhookIds: readonly string[]): Promise<readonly Counted[]> {
    const found: Counted[] = [];
    for (let from = 0; from < webhookIds.length; from += TOGETHER) {
      if (from > 0) await turn();
      const ids = webhookIds.slice(from, from + TOGETHER);
      const counts = await this.options.deliveries.of(ids);
      found.push(...ids.map((id, i) => ({ id, count: counts[i] ?? 0 })).filter(({ count }) => count > 0));
    }
    return found;
  }

  /** Null when nothing waits, and when so many lanes have waiting records that not all can be looked at. */
  private async oldestOf(
    invoked: readonly Counted[],
    emitted: readonly Counted[],
    delivered: readonly Counted[],
  ): Promise<number | null> {
    const { topics } = this.options;
    const lanes = [
      ...invoked.map(({ id }) => [RUNNERS, topics.invocations(id)] as const),
      ...emitted.map(({ id }) => [ROUTERS, topics.emits(id)] as const),
      ...delivered.map(({ id }) => [WORKERS, topics.deliveries(id)] as const),
    ];
    if (lanes.length > MOST_LANES) return null;
    let oldest: number | null = null;
    for (const [group, topic] of lanes) {
      await turn();
      const at = await this.firstOf(group, topic);
      if (at !== undefined && (oldest === null || at < oldest)) oldest = at;
    }
    return oldest;
  }

  /** When the first record that a group has not done was stored. */
  private async firstOf(group: string, topic: string): Promise<number | undefined> {
    const { log } = this.options;
    const committed = (await log.committed(group, topic))[topic];
    const [first] = committed === undefined ? [] : await log.read(topic, committed, 1);
    return first?.timestamp;
  }
}

interface Counted {
  readonly id: string;
  readonly count: number;
}

const counted = (ids: readonly string[], countOf: (id: string) => number): readonly Counted[] =>
  ids.map((id) => ({ id, count: countOf(id) })).filter(({ count }) => count > 0);

const total = (all: readonly Counted[]): number => all.reduce((sum, { count }) => sum + count, 0);
