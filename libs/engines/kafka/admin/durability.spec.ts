import { describe, expect, it } from '@jest/globals';
import { RefusedStart } from '#libs/config/refused-start.js';
import { topicSettings } from '../testing/topic-settings.js';
import { type Cluster } from '../wire/cluster.js';
import { verifyDurability, type Durability } from './durability.js';
import { minInSync } from './topic-admin.js';

const FLUSH = 'log.flush.interval.messages';
const NEVER = '9223372036854775807';

interface Setup {
  /** Copies and min.insync.replicas by topic. */
  readonly topics?: Readonly<Record<string, readonly [number, number]>>;
  /** Settings of the one broker; undefined when they may not be read. */
  readonly broker?: Readonly<Record<string, string>> | undefined;
  readonly copies?: number;
  readonly durability?: Durability;
  readonly mayAlter?: boolean;
  /** Topics that are still unknown to the broker that is asked for their settings. */
  readonly unknown?: readonly string[];
}

const SAFE = { __consumer_offsets: [3, 2] } as const;

const verified = async (setup: Setup): Promise<{ altered: readonly string[]; warnings: string[] }> => {
  const { broker, copies = 3, durability = 'required', mayAlter = true, unknown = [] } = setup;
  const topics: NonNullable<Setup['topics']> = setup.topics ?? SAFE;
  const { admin, altered } = topicSettings(
    (name) => (unknown.includes(name) ? undefined : new Map([['min.insync.replicas', String(topics[name]?.[1])]])),
    mayAlter,
  );
  const warnings: string[] = [];
  const told = new Map(
    Object.entries(topics).map(([name, [count]]) => [name, { name, id: name, leaders: [1], copies: [count] }]),
  );
  await verifyDurability({
    // The check uses these methods only.
    cluster: {
      topics: () => told.values(),
      refreshTopic: (name: string) => Promise.resolve(told.get(name)),
      warn: (text: string) => warnings.push(text),
    } as unknown as Cluster,
    admin,
    brokers: { read: () => Promise.resolve(broker && [{ broker: 1, values: new Map(Object.entries(broker)) }]) },
    prefix: 'x.',
    copies,
    durability,
  });
  return { altered, warnings };
};

describe('the durability of what Kafka acknowledges', () => {
  it('needs the majority of the copies', () => {
    expect([1, 2, 3, 4, 5].map(minInSync)).toEqual([1, 2, 2, 3, 3]);
  });

  it('holds with three copies, two of them in sync', async () => {
    expect(await verified({})).toEqual({ altered: [], warnings: [] });
  });

  it("is judged by the brokers' setting for the groups' offsets that another process has just caused", async () => {
    const unknown = ['__consumer_offsets'];
    const broker = { 'min.insync.replicas': '2', 'offsets.topic.replication.factor': '3' };
    expect(await verified({ unknown, broker })).toEqual({ altered: [], warnings: [] });
    const low = { ...broker, 'min.insync.replicas': '1' };
    await expect(verified({ unknown, broker: low })).rejects.toThrow(/__consumer_offsets needs min.insync.replicas=2/);
  });

  it('is set right for topics of ours that ask for too few, and only for those', async () => {
    const topics = { ...SAFE, 'x.low': [3, 1], 'x.high': [3, 3], 'x.right': [5, 3], 'other.low': [3, 1] } as const;
    const { altered, warnings } = await verified({ topics });
    expect(altered).toEqual(['x.low min.insync.replicas=2']);
    expect(warnings).toEqual(['min.insync.replicas was too low and is set']);
  });

  it.each<[string, Setup, string]>([
    [
      'one copy, and a broker that answers before it writes to disk',
      { copies: 1, broker: { [FLUSH]: NEVER }, topics: { __consumer_offsets: [1, 1] } },
      'broker 1 acknowledges before it writes to disk',
    ],
    [
      'topics with one copy from before',
      { topics: { ...SAFE, 'x.old': [1, 1] }, broker: { [FLUSH]: NEVER } },
      '1 topics have one copy (x.old)',
    ],
    [
      'a topic that may not be set right',
      { topics: { ...SAFE, 'x.low': [3, 1] }, mayAlter: false },
      'topic x.low needs min.insync.replicas=2 and has 1: TOPIC_AUTHORIZATION_FAILED',
    ],
    [
      'offsets with fewer copies',
      { topics: { __consumer_offsets: [1, 1] } },
      '__consumer_offsets has fewer copies (1) than our topics (3)',
    ],
    [
      'offsets that one copy acknowledges',
      { topics: { __consumer_offsets: [3, 1] } },
      '--entity-name __consumer_offsets --add-config min.insync.replicas=2',
    ],
    [
      'offsets that will have fewer copies',
      { topics: {}, broker: { 'offsets.topic.replication.factor': '1', 'min.insync.replicas': '1' } },
      'offsets.topic.replication.factor of the brokers is 1',
    ],
  ])('is refused with %s, with what to do', async (_, setup, reason) => {
    const refused = await verified(setup).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RefusedStart);
    expect(String(refused)).toContain(reason);
    expect(String(refused)).toContain('SLUICE_KAFKA_DURABILITY=best_effort');
    const { warnings } = await verified({ ...setup, durability: 'best_effort' });
    expect(warnings.at(-1)).toContain(reason);
  });

  it('holds with one copy that each append is flushed to', async () => {
    const topics = { __consumer_offsets: [1, 1], 'x.a': [1, 1] } as const;
    expect(await verified({ copies: 1, broker: { [FLUSH]: '1' }, topics })).toEqual({ altered: [], warnings: [] });
  });

  it('is said to be unknown where the brokers do not tell', async () => {
    const topics = { __consumer_offsets: [1, 1] } as const;
    const unknown = ['durability could not be verified'];
    expect((await verified({ copies: 1, broker: undefined, topics })).warnings).toEqual(unknown);
    // The topic of the offsets does not exist yet, and would get the brokers' settings.
    expect((await verified({ copies: 3, broker: undefined, topics: {} })).warnings).toEqual(unknown);
  });
});
