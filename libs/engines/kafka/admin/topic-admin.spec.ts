import { expect, it } from '@jest/globals';
import { Cluster } from '../wire/cluster.js';
import { CODE, type Api, type Apis } from '../wire/protocol.js';
import { TopicAdmin } from './topic-admin.js';

/** A controller that deletes at once, and brokers that hear of it after some looks each. */
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

  /** What the first broker tells, as any broker may. */
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
