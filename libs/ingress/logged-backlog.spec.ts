import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/config/index.js';
import { allOf, type Admission } from './admission.js';
import { PressureGate } from './pressure-gate.js';
import { type LaneBatch } from '#libs/stream-log/stream-log.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics, sharedTopics, type TopicPolicy } from '#libs/stream-log/topics.js';
import { LoggedBacklog, type LoggedGroup } from './logged-backlog.js';
import { doorOfApi } from './pressure-settings.js';

const RETENTION = { emitsAgeMs: 1, emitsBytes: 1 };
const LIMIT = 100;
const settings = loadConfig({});

const world = async (topics: TopicPolicy = perEmitterTopics(RETENTION), groups?: readonly LoggedGroup[]) => {
  const log = new InMemoryStreamLog();
  for (const { topic } of topics.fixed()) await log.createTopic(topic);
  for (const id of ['dc_a', 'dc_b']) for (const { topic } of topics.ownedBy(id)) await log.createTopic(topic);
  const alive = new Set<string>();
  const reported = new Map<string, number>();
  const failures: unknown[] = [];
  const backlog = new LoggedBacklog({
    log,
    topics,
    ...(groups && { groups }),
    reported: {
      unroutedOf: (id) => reported.get(id) ?? 0,
      ofSource: (id) => reported.get(id) ?? 0,
      ofWorkspace: () => 0,
      sourcesOf: () => 0,
      queuedBytes: () => 0,
      isAlive: (role) => alive.has(role),
    },
    onFailure: (error) => failures.push(error),
  });
  const limits = {
    source: LIMIT,
    workspace: 1_000,
    paced: LIMIT,
    pacedMs: 0,
    bytes: 1_000,
    heldOfSource: 0,
    held: 0,
    heldMs: 0,
  };
  const gate = new PressureGate(backlog, limits, () => 0);
  const door = allOf(gate, backlog.counting);
  return { log, topics, alive, reported, backlog, door };
};
type World = Awaited<ReturnType<typeof world>>;

const enters = async (door: Admission, sourceId: string): Promise<boolean> => {
  const arrival = { sourceId, workspaceId: 'o_1', bytes: 0 };
  const entered = door.enter(arrival);
  return entered === true || (await entered) === undefined;
};

/** Sends events until the source's door closes. The log is read after every 50. Returns the number of stored events. */
const fill = async ({ log, topics, backlog, door }: World, sourceId: string, most = 10_000): Promise<number> => {
  for (let n = 0; n < most; n++) {
    if (!(await enters(door, sourceId))) return n;
    await log.publish([
      { topic: topics.invocations(sourceId), key: sourceId, headers: { source: sourceId }, value: '' },
    ]);
    door.left({ sourceId, workspaceId: 'o_1', bytes: 0 });
    if (n % 50 === 0) await backlog.look();
  }
  return most;
};

const runner = async ({ log }: World) => {
  let handedOver = 0;
  const consumer = await log.consume({
    group: 'runner',
    topics: { prefix: 'invocations.' },
    maxBatch: 64,
    maxUnacked: 512,
    handler: async (batch: LaneBatch) => {
      for (const { offset } of batch.records) batch.ack(offset);
      handedOver += batch.records.length;
    },
  });
  return { consumer, handedOver: () => handedOver };
};

describe('a backlog that nobody owns', () => {
  it('closes the door of each source at its limit, and opens it once a runner has worked it off', async () => {
    const own = await world();
    expect(await fill(own, 'dc_a')).toBe(LIMIT);
    expect(await enters(own.door, 'dc_b')).toBe(true);
    own.door.left({ sourceId: 'dc_b', workspaceId: 'o_1', bytes: 0 });
    expect(await fill(own, 'dc_b')).toBeLessThanOrEqual(LIMIT);
    await own.backlog.look();
    expect([await enters(own.door, 'dc_a'), await enters(own.door, 'dc_b')]).toEqual([false, false]);

    const { consumer, handedOver } = await runner(own);
    while (handedOver() < 2 * LIMIT - 1) await new Promise((resolve) => setImmediate(resolve));
    await consumer.close();
    await own.backlog.look();
    expect([await enters(own.door, 'dc_a'), await enters(own.door, 'dc_b')]).toEqual([true, true]);
  });

  it('counts less what a runner that is alive may have done and not committed', async () => {
    const own = await world();
    own.alive.add('runner').add('router');
    const stored = await fill(own, 'dc_a');
    expect(stored).toBeGreaterThanOrEqual(LIMIT + 2_048);
    expect(stored).toBeLessThanOrEqual(LIMIT + 2_048 + 50);
  });

  // docs/reference/limits.md#backlog
  it('closes the door of the API too, source by source, for what the API itself stored', async () => {
    const { log, topics, backlog } = await world();
    const door = doorOfApi(backlog, { ...settings, sourceBacklog: LIMIT }, () => 0);
    const store = async (sourceId: string): Promise<void> => {
      await log.publish([{ topic: topics.invocations(sourceId), key: sourceId, headers: {}, value: '' }]);
      door.stored?.(sourceId);
      await backlog.look();
    };
    for (let n = 0; n < LIMIT; n++) {
      expect(door.refusal('dc_a', 'o_1')).toBeUndefined();
      await store('dc_a');
    }
    expect(door.refusal('dc_a', 'o_1')).toMatchObject({
      status: 503,
      code: 'overloaded',
      text: expect.stringContaining(`it has ${LIMIT} events in flight, the limit of one source is ${LIMIT}`),
    });
    expect(door.refusal('dc_b', 'o_1')).toBeUndefined();
  });

  it('is what the owner reports, where there is one', async () => {
    const own = await world();
    own.reported.set('dc_a', LIMIT);
    expect([await enters(own.door, 'dc_a'), await enters(own.door, 'dc_b')]).toEqual([false, true]);
  });

  it('counts emits that no router takes', async () => {
    const own = await world();
    const emit = { topic: own.topics.emits('dc_a'), key: 'dc_a', headers: {}, value: '' };
    await own.log.publish(Array.from({ length: LIMIT }, () => emit));
    expect(await fill(own, 'dc_a')).toBeLessThanOrEqual(LIMIT / 2 + 1);
    expect(await fill(own, 'dc_b', 40)).toBe(40);
  });

  it('pauses a source whose emits no router takes, and only while none is alive', async () => {
    const own = await world(undefined, ['router']);
    const emit = { topic: own.topics.emits('dc_a'), key: 'dc_a', headers: {}, value: '' };
    await own.log.publish(Array.from({ length: 500 }, () => emit));
    const unrouted = (): number[] => ['dc_a', 'dc_b'].map((id) => own.backlog.unroutedOf(id));
    expect(unrouted()).toEqual([0, 0]);
    await own.backlog.look();
    expect(unrouted()).toEqual([500, 0]);
    own.alive.add('router');
    own.reported.set('dc_a', 7);
    expect(unrouted()).toEqual([7, 0]);
  });

  it('is shared by the sources of a shared lane', async () => {
    const own = await world(sharedTopics(RETENTION, 1));
    expect(await fill(own, 'dc_a')).toBe(LIMIT);
  });

  it('keeps what was known while no broker tells, and forgets a source whose topics are gone', async () => {
    const own = await world();
    await fill(own, 'dc_a');
    await own.backlog.look();
    await own.log.deleteTopic(own.topics.invocations('dc_a'));
    await own.backlog.look();
    expect(await enters(own.door, 'dc_a')).toBe(false);
    for (let n = 0; n < 60; n++) await own.backlog.look();
    expect(await enters(own.door, 'dc_a')).toBe(true);
  });
});
