import { afterEach, describe, expect, it } from '@jest/globals';
import { pause } from '#libs/async/pause.js';
import { type Cluster } from '../wire/cluster.js';
import { CODE } from '../wire/protocol.js';
import { Membership } from './membership.js';

const SESSION_MS = 60;
const memberships: Membership[] = [];
afterEach(async () => {
  await Promise.all(memberships.splice(0).map((each) => each.close()));
});

/** A member of a group. The spec decides when its heartbeats are answered. */
const world = async () => {
  const events: string[] = [];
  const heartbeats: ((errorCode: number) => void)[] = [];
  const members = [{ memberId: 'm1', metadata: Buffer.from('self') }];
  const cluster = {
    callCoordinator: async (_group: string, _purpose: string, api: string) => {
      if (api === 'JoinGroup')
        return { errorCode: CODE.NONE, memberId: 'm1', leaderId: 'm1', generationId: 1, members };
      if (api !== 'Heartbeat') return { errorCode: CODE.NONE, assignment: Buffer.from('self') };
      return { errorCode: await new Promise<number>((resolve) => heartbeats.push(resolve)) };
    },
    drop: () => {
      for (const answer of heartbeats.splice(0)) answer(CODE.NONE);
    },
    forgetCoordinator: () => undefined,
    warn: () => undefined,
  };
  const membership = new Membership({
    // The methods that Membership uses.
    cluster: cluster as unknown as Cluster,
    group: 'g',
    sessionTimeoutMs: SESSION_MS,
    onAgreement: () => events.push('agreed'),
    onExpelled: async () => void events.push('expelled'),
    onMemberId: () => undefined,
  });
  memberships.push(membership);
  while (heartbeats.length === 0) await pause(1);
  return { membership, events, answer: (code: number) => heartbeats.shift()?.(code) };
};

describe('a member of a group', () => {
  it('is in no doubt before the session time-out, and knows again once the group has answered', async () => {
    const { membership, answer } = await world();
    answer(CODE.NONE);
    while (membership.inDoubt() === undefined) await pause(1);
    const known = membership.inDoubt();
    let told = false;
    void known?.then(() => (told = true));
    await pause(SESSION_MS);
    expect(told).toBe(false);
    while (!told) {
      answer(CODE.NONE);
      await pause(1);
    }
  });

  it('has given up its lanes when it hears that the group went on without it', async () => {
    const { membership, events, answer } = await world();
    while (membership.inDoubt() === undefined) await pause(1);
    const known = membership.inDoubt();
    answer(CODE.UNKNOWN_MEMBER_ID);
    await known;
    expect(events).toEqual(['agreed', 'expelled']);
  });

  it('leaves nobody waiting when it closes', async () => {
    const { membership } = await world();
    while (membership.inDoubt() === undefined) await pause(1);
    const known = membership.inDoubt();
    await membership.close();
    await known;
    expect(membership.inDoubt()).toBeUndefined();
  });
});
