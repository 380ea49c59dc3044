import { randomUUID } from 'node:crypto';
import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { RETRY_PAUSES, type Cluster } from '../wire/cluster.js';
import { failIf } from '../wire/broker-connection.js';
import { CODE, isCoordinatorMoving, isExpelled } from '../wire/protocol.js';

/** The members that a group has agreed on. */
export interface Agreement {
  /** This member, as listed in `members`. Renewed after each expulsion. */
  readonly self: string;
  /** Sorted. */
  readonly members: readonly string[];
  /** Identifies this member in commits. */
  readonly member: { readonly id: string; readonly generation: number };
}

export interface MembershipOptions {
  readonly cluster: Cluster;
  /** Includes the prefix. */
  readonly group: string;
  readonly sessionTimeoutMs: number;
  readonly onAgreement: (agreement: Agreement) => void;
  /** The group continues without this member, so others own its lanes now. It rejoins once this resolves. */
  readonly onExpelled: () => Promise<void>;
  /** The id under which the group knows this member; undefined when it has left. */
  readonly onMemberId: (id: string | undefined) => void;
}

const PROTOCOL_TYPE = 'sluice';
const PROTOCOL = 'rendezvous.v1';
/** How long the group waits for a member in a rebalance. The member rejoins at its next heartbeat. */
const REBALANCE_MS = 10_000;
/** The interval also bounds the time until a member notices a rebalance. */
const HEARTBEATS_PER_SESSION = 6;

/**
 * Membership by the classic group protocol. The leader assigns the same list of members to all. Each member computes
 * the owners of lanes from it (ownership.ts). Retries indefinitely while a broker is away.
 */
export class Membership {
  private memberId = '';
  private self = newSelf();
  private generation = -1;
  private closed = false;
  /** Start of the last request in whose answer the group confirmed this member (process uptime, milliseconds). */
  private confirmedAt = performance.now();
  /** Set while work waits for the group's confirmation of this member. */
  private asking: { readonly known: Promise<void>; readonly end: () => void } | undefined;
  private readonly pause = new WakeablePause();
  /** Uses its own connection, because a join blocks other requests while the group assembles. */
  private readonly purpose = `group ${++memberships}`;
  private readonly ended: Promise<void>;

  constructor(private readonly options: MembershipOptions) {
    this.ended = this.run();
  }

  /** Checks with the group at once, after it refused a request of this member. */
  doubt(): void {
    this.pause.wake();
  }

  /**
   * Undefined while the group certainly counts this member, because it expels none before the session time-out. Later,
   * a promise that resolves once the group has confirmed the member or the lanes are released.
   */
  inDoubt(): Promise<void> | undefined {
    if (performance.now() - this.confirmedAt < this.options.sessionTimeoutMs || this.closed) return undefined;
    if (!this.asking) {
      let end = (): void => undefined;
      const known = new Promise<void>((resolve) => (end = resolve));
      this.asking = { known, end };
      this.doubt();
    }
    return this.asking.known;
  }

  /** Leaves the group if it can be reached. */
  async close(): Promise<void> {
    const { cluster, group, onMemberId } = this.options;
    this.closed = true;
    this.known();
    this.pause.wake();
    cluster.drop(this.purpose);
    await this.ended;
    if (this.memberId === '') return;
    try {
      await leaveGroup(cluster, group, this.memberId);
      onMemberId(undefined);
    } catch (error) {
      cluster.warn('a group could not be left; it removes the member after the session time-out', error, { group });
    }
  }

  private known(): void {
    this.asking?.end();
    this.asking = undefined;
  }

  private async run(): Promise<void> {
    const { cluster, group, sessionTimeoutMs } = this.options;
    const backoff = new Backoff(RETRY_PAUSES);
    let joined = false;
    while (!this.closed) {
      try {
        if (!joined) joined = await this.join();
        backoff.reset();
        if (joined) await this.pause.wait(sessionTimeoutMs / HEARTBEATS_PER_SESSION);
        if (joined && !this.closed) joined = await this.heartbeat();
      } catch (error) {
        if (this.closed) return;
        cluster.forgetCoordinator(group);
        cluster.warn('a group cannot be reached', error, { group });
        await this.pause.wait(backoff.next());
      }
    }
  }

  /** Returns false when the group is not in agreement and this member must rejoin. */
  private async heartbeat(): Promise<boolean> {
    const { cluster, group } = this.options;
    const askedAt = performance.now();
    const { errorCode } = await cluster.callCoordinator(group, this.purpose, 'Heartbeat', {
      groupId: group,
      generationId: this.generation,
      memberId: this.memberId,
    });
    return this.stillIn(errorCode, askedAt);
  }

  private async join(): Promise<boolean> {
    const { cluster, group, sessionTimeoutMs, onMemberId } = this.options;
    const askedAt = performance.now();
    const reply = await cluster.callCoordinator(group, this.purpose, 'JoinGroup', {
      groupId: group,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: REBALANCE_MS,
      memberId: this.memberId,
      protocolType: PROTOCOL_TYPE,
      protocol: PROTOCOL,
      metadata: Buffer.from(this.self),
    });
    if (reply.errorCode === CODE.NONE || reply.errorCode === CODE.MEMBER_ID_REQUIRED) {
      if (this.memberId !== reply.memberId) onMemberId(reply.memberId);
      this.memberId = reply.memberId;
    }
    if (this.closed || reply.errorCode === CODE.MEMBER_ID_REQUIRED) return false;
    if (!(await this.stillIn(reply.errorCode, askedAt))) return false;
    this.generation = reply.generationId;
    const members = reply.members.map(({ metadata }) => metadata.toString()).sort();
    return this.sync(
      reply.leaderId === this.memberId ? reply.members.map(({ memberId }) => memberId) : [],
      Buffer.from(members.join(',')),
    );
  }

  private async sync(everybody: readonly string[], assignment: Buffer): Promise<boolean> {
    const { cluster, group, onAgreement } = this.options;
    const { memberId, generation } = this;
    const askedAt = performance.now();
    const { errorCode, assignment: agreed } = await cluster.callCoordinator(group, this.purpose, 'SyncGroup', {
      groupId: group,
      generationId: generation,
      memberId,
      protocolType: PROTOCOL_TYPE,
      protocol: PROTOCOL,
      assignments: everybody.map((each) => ({ memberId: each, assignment })),
    });
    if (this.closed || !(await this.stillIn(errorCode, askedAt))) return false;
    const members = agreed.toString().split(',');
    onAgreement({ self: this.self, members, member: { id: memberId, generation } });
    return true;
  }

  private async stillIn(code: number, askedAt: number): Promise<boolean> {
    const { cluster, group, onExpelled, onMemberId } = this.options;
    if (code === CODE.NONE || code === CODE.REBALANCE_IN_PROGRESS) {
      this.confirmedAt = askedAt;
      this.known();
      return code === CODE.NONE;
    }
    if (isCoordinatorMoving(code)) {
      cluster.forgetCoordinator(group);
      failIf(`group ${group}`, code);
    }
    if (!isExpelled(code)) failIf(`group ${group}`, code);
    this.memberId = '';
    onMemberId(undefined);
    const givenUp = onExpelled();
    this.known();
    await givenUp;
    this.self = newSelf();
    return false;
  }
}

let memberships = 0;

/** Idempotent: a member that the group does not know has already left. */
export const leaveGroup = async (cluster: Cluster, groupId: string, memberId: string): Promise<void> => {
  const { errorCode } = await cluster.callCoordinator(groupId, 'offsets', 'LeaveGroup', { groupId, memberId });
  if (errorCode !== CODE.UNKNOWN_MEMBER_ID) failIf(`group ${groupId}`, errorCode);
};

/** A short id, because the group stores the list of all members once for each member. */
const newSelf = (): string => randomUUID().slice(0, 13).replace('-', '');
