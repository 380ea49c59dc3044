import { expect, it } from '@jest/globals';
import { Cluster } from '../wire/cluster.js';
import { CODE, type Api, type Apis } from '../wire/protocol.js';
import { TopicAdmin, TOPICS_AT_ONCE } from './topic-admin.js';

/** A controller that deletes at once, and brokers that each notice it after some requests. */
class Deleting extends Cluster {
  readonly forgotten: string[] = [];
  readonly looks: number[];

  constructor(private readonly heardAfter: readonly number[]) {
    super({ brokers: [], clientId: 'spec', onWarning: () => undefined });
    this.looks = heardAfter.map(() => 0);
  }

  override brokers(): readonly number[] {
    return this.heardAfter.map((_, node) => node);
  }

  override async callController<A extends Api>(): Promise<Apis[A]['reply']> {
    return { errorCode: CODE.NONE, errorMessage: null } as unknown as Apis[A]['reply'];
  }

  /** The answer of the first broker. */
  override async refreshTopic(): Promise<undefined> {
    return undefined;
  }

  override async call<A extends Api>(node: number): Promise<Apis[A]['reply']> {
    const looks = (this.looks[node] = (this.looks[node] ?? 0) + 1);
    const knowsIt = looks <= (this.heardAfter[node] ?? 0);
    const errorCode = knowsIt ? CODE.NONE : CODE.UNKNOWN_TOPIC_OR_PARTITION;
    return { topics: [{ topic: 't', errorCode }] } as unknown as Apis[A]['reply'];
  }

  override forget(name: string): void {
    this.forgotten.push(name);
  }
}

it('a topic is deleted once no broker that is up knows it, whatever the first one tells', async () => {
  const cluster = new Deleting([0, 3, 1]);
  await new TopicAdmin(cluster, 3).delete('t');
  expect(cluster.looks).toEqual([4, 4, 4]);
  expect(cluster.forgotten).toEqual(['t']);
});

/** A controller that moves at the first request, and refuses one topic for good. */
class Altering extends Cluster {
  readonly sent: string[][] = [];

  constructor() {
    super({ brokers: [], clientId: 'spec', onWarning: () => undefined });
  }

  override async callController<A extends Api>(_: A, args: Apis[A]['args']): Promise<Apis[A]['reply']> {
    const names = (args as Apis['IncrementalAlterConfigs']['args']).topics.map(({ topic }) => topic);
    this.sent.push(names);
    const isFirst = this.sent.length === 1;
    const codeOf = (topic: string): number => {
      if (topic === 'refused') return TOPIC_AUTHORIZATION_FAILED;
      return isFirst && topic !== 't0' ? CODE.NOT_CONTROLLER : CODE.NONE;
    };
    const topics = names.map((topic) => ({ topic, errorCode: codeOf(topic), errorMessage: null }));
    return { topics } as unknown as Apis[A]['reply'];
  }
}
const TOPIC_AUTHORIZATION_FAILED = 29;

it('the settings of many topics are changed with few requests, and a refusal is that of its topic', async () => {
  const cluster = new Altering();
  const names = ['refused', ...Array.from({ length: TOPICS_AT_ONCE }, (_, n) => `t${n}`)];
  const refused = await new TopicAdmin(cluster, 3).alterAll(names, () => []);
  expect([...refused]).toEqual([['refused', expect.objectContaining({ message: expect.stringContaining('refused') })]]);
  // The first request is repeated without the finished topics, then the rest follow.
  expect(cluster.sent.map(({ length }) => length)).toEqual([TOPICS_AT_ONCE, TOPICS_AT_ONCE - 2, 1]);
});
