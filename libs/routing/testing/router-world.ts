import { afterEach } from '@jest/globals';
import { FRESH } from '#libs/kernel/testing/fresh-tables.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { type DeleteHeaders, type EmitHeaders, type RecordOf } from '#libs/stream-log/envelopes.js';
import { HandedOver } from '#libs/stream-log/handed-over.js';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';
import { InMemoryDelayedEvents } from '#libs/stream-log/testing/in-memory-delayed-events.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { startRouter, type Router, type RouterOptions } from '../router.js';
import { SubscriptionTable } from '../subscription-table.js';

export const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });

/** A record that removes the events of the default channel of dc_a. */
export const removal = (seq: number): RecordOf<DeleteHeaders> => {
  const { headers, ...record } = emitRecord(seq);
  return { ...record, headers: { ...headers, kind: 'delete' } };
};

/** The emit `emit-<seq>` of dc_a, unless the headers say otherwise. */
export const emitRecord = (
  seq: number,
  over: Partial<EmitHeaders> = {},
  value = `{"n": ${seq} }`,
): RecordOf<EmitHeaders> => ({
  topic: topics.emits(over.emitter ?? 'dc_a'),
  key: over.emitter ?? 'dc_a',
  headers: {
    kind: 'emit',
    id: `1700000000000-${seq}`,
    emitter: 'dc_a',
    workspace: 'o_1',
    channel: '',
    emit: `emit-${seq}`,
    hops: '0',
    ...over,
  },
  value,
});

export interface Subscribed {
  readonly emitter?: string;
  readonly listener: string;
  readonly channel?: string;
  readonly filter?: object | undefined;
}

export interface RouterWorld {
  readonly log: InMemoryStreamLog;
  readonly delayed: InMemoryDelayedEvents;
  readonly due: InMemoryDueStore;
  /** Adds the subscription `sub_<n>`, counted from 0. */
  subscribe(subscription: Subscribed): void;
  /** Starts a router, which is closed after the test. */
  start(over?: Partial<RouterOptions>): Promise<Router>;
}

/** A log and a subscription table for each world of the file, and routers on them. */
export const routerWorlds = (): (() => RouterWorld) => {
  const routers: Router[] = [];
  afterEach(async () => {
    await Promise.all(routers.splice(0).map((router) => router.close()));
  });
  return () => {
    const log = new InMemoryStreamLog();
    const delayed = new InMemoryDelayedEvents();
    const due = new InMemoryDueStore();
    const table = new SubscriptionTable();
    return {
      log,
      delayed,
      due,
      subscribe({ emitter = 'dc_a', listener, channel = '', filter }) {
        const id = `sub_${table.size}`;
        const ids = { subscriptionId: id, userId: 'u_1', emitterId: emitter, listenerId: listener };
        const data = { ...ids, eventName: channel, createdAt: 1, filter };
        table.apply(recorded(`subscription-${id}`, { type: 'SubscriptionCreated', data }));
      },
      async start(over = {}) {
        const router = await startRouter({
          log,
          handedOver: new HandedOver(Infinity),
          topics,
          delayed,
          due,
          table,
          tables: FRESH,
          clock: { now: () => 1_700_000_000_500 },
          ...over,
        });
        routers.push(router);
        return router;
      },
    };
  };
};
