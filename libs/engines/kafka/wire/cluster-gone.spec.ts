import { expect, it } from '@jest/globals';
import { Cluster } from './cluster.js';
import { CODE, type Api, type Apis } from './protocol.js';

type Look = 'knows' | 'does not know' | 'does not answer';

/** A cluster whose brokers each report on a topic `t`. */
class Looks extends Cluster {
  constructor(private readonly looks: readonly Look[]) {
    super({ brokers: [], clientId: 'spec', onWarning: () => undefined });
  }

  override brokers(): readonly number[] {
    return this.looks.map((_, node) => node);
  }

  override async call<A extends Api>(node: number): Promise<Apis[A]['reply']> {
    if (this.looks[node] === 'does not answer') throw new Error('away');
    const errorCode = this.looks[node] === 'knows' ? CODE.NONE : CODE.UNKNOWN_TOPIC_OR_PARTITION;
    return { topics: [{ topic: 't', errorCode }] } as unknown as Apis[A]['reply'];
  }
}

it.each<[boolean, readonly Look[]]>([
  [true, ['does not know', 'does not know', 'does not know']],
  [false, ['does not know', 'knows', 'does not know']],
  [false, ['does not know', 'does not answer', 'does not know']],
  [true, ['does not know']],
  [false, []],
])('a topic is gone: %s, when its brokers look like this: %j', async (isGone, looks) => {
  expect((await new Looks(looks).gone(['t'])).has('t')).toBe(isGone);
});
