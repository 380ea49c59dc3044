import { invocationHeaders } from '#libs/stream-log/envelopes.js';
import { type HandedOver } from '#libs/stream-log/handed-over.js';
import { type Consumer, type LaneBatch, REVOKE_MS, type StreamLog } from '#libs/stream-log/stream-log.js';
import { INVOCATIONS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Invocation } from './invocation.js';
import { type ExecutableRunner, type LoadedExecutables } from './loaded-executables.js';

export interface LaneConsumer {
  /** Number of unacknowledged invocations. */
  backlog(): number;
  unreadBytesOf(lane: string): number;
  /** Number of unacknowledged invocations of one executable; 0 where executables share their lanes. */
  waitingFor(id: string): number;
  /** Forgets the lane of a deleted executable, and releases it. */
  forget(id: string): Promise<void>;
  /** Starts no more runs and waits for those in flight, at most `withinMs`. The log redelivers the others. */
  close(withinMs?: number): Promise<void>;
}

export interface LaneConsumerOptions {
  readonly log: StreamLog;
  /** Counts the invocations that this process has in flight. */
  readonly handedOver: HandedOver;
  readonly topics: TopicPolicy;
  /** The executables by the prefix of their ids. The first kind whose prefix fits runs one, so `''` comes last. */
  readonly kinds: readonly {
    readonly prefix: string;
    readonly executables: LoadedExecutables<ExecutableRunner>;
  }[];
}

const MAX_BATCH = 64;
const MAX_UNACKED = 512;
/** Time for runs to end after a revocation. The rest of the log's grace period is for ending the sandboxes. */
const RELEASE_MS = REVOKE_MS - 2_000;

/** Hands the invocations of the lanes that this process owns to the runners of their executables. */
export const consumeLanes = async ({ log, handedOver, topics, kinds }: LaneConsumerOptions): Promise<LaneConsumer> => {
  const laneOf = new Map<string, string>();
  const executablesOf = (id: string): LoadedExecutables<ExecutableRunner> => {
    const kind = kinds.find(({ prefix }) => id.startsWith(prefix));
    if (!kind) throw new Error(`nothing runs executables such as ${id}`);
    return kind.executables;
  };

  const consumer: Consumer = await log.consume(
    handedOver.counting({
      group: 'runner',
      topics: { prefix: INVOCATIONS },
      maxBatch: MAX_BATCH,
      maxUnacked: MAX_UNACKED,
      async handler(batch): Promise<void> {
        const revoked = (): boolean => batch.revoked();
        const groups = byExecutable(batch);
        for (const id of groups.keys()) laneOf.set(id, batch.lane);
        await Promise.all([...groups].map(([id, group]) => executablesOf(id).accept(id, group, revoked)));
      },
      async onRevoked(lane): Promise<void> {
        const moved = [...laneOf].filter(([, of]) => of === lane).map(([id]) => id);
        for (const id of moved) laneOf.delete(id);
        await Promise.all(moved.map((id) => executablesOf(id).release(id, RELEASE_MS)));
      },
    }),
  );

  return {
    backlog: () => consumer.backlog(),
    unreadBytesOf: (lane) => consumer.unreadBytesOf(lane),
    waitingFor: (id) => (topics.ownedBy(id).length > 0 ? consumer.backlogOf(topics.invocations(id)) : 0),

    async forget(id): Promise<void> {
      laneOf.delete(id);
      await executablesOf(id).release(id);
    },

    async close(withinMs): Promise<void> {
      // Releases the lanes last. Until then no other process runs these executables, and finished runs are acknowledged.
      await Promise.all(kinds.map(({ executables }) => executables.close(withinMs)));
      await consumer.close();
    },
  };
};

/** Groups a batch by executable, because a lane of shared topics has many. Each executable keeps its order. */
const byExecutable = (batch: LaneBatch): ReadonlyMap<string, readonly Invocation[]> => {
  const groups = new Map<string, Invocation[]>();
  for (const record of batch.records) {
    const headers = invocationHeaders(record);
    const invocation = {
      record,
      end: batch.end,
      headers,
      ack: () => batch.ack(record.offset),
      revoked: () => batch.revoked(),
    };
    const group = groups.get(headers.source);
    if (group) group.push(invocation);
    else groups.set(headers.source, [invocation]);
  }
  return groups;
};
