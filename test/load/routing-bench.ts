import { type DomainEvent, type RecordedEvent } from '#libs/kernel/events.js';
import { routeEmit, type Emit } from '#libs/routing/route-emit.js';
import { SubscriptionTable } from '#libs/routing/subscription-table.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';

/**
 * Cost of a subscription look-up with 10, 1,000 and 100,000 subscriptions in the table, on one core, without a store:
 * `node --expose-gc dist/test/load/routing-bench.js`. Emitters are picked at random, so that the cache does not hold
 * the whole table. "Routed" is the look-up and the creation of the records, ids included.
 */

const SIZES = [10, 1_000, 100_000];
const LOOKUPS = 1_000_000;
const ROUTES = 200_000;
const WORKSPACES = 50;

const topics = perEmitterTopics({ emitsAgeMs: 0, emitsBytes: 0 });

const recorded = (stream: string, event: DomainEvent, workspaceId: string): RecordedEvent => ({
  ...event,
  id: stream,
  stream,
  revision: 0n,
  position: '0',
  recordedAt: 0,
  metadata: {
    $correlationId: '',
    $causationId: '',
    commandId: '',
    actor: { userId: 'u_1', apiKeyId: null },
    workspaceId,
    schemaVersion: 1,
  },
});

const emitterOf = (i: number): string => `dc_${String(i).padStart(18, '0')}`;
const workspaceOf = (emitter: number): string => `o_${emitter % WORKSPACES}`;

/** Each emitter has one subscription to a webhook. One in ten of the subscriptions is a glob or of another channel. */
const tableOf = (size: number): SubscriptionTable => {
  const table = new SubscriptionTable();
  for (let i = 0; i < size; i++) {
    const special = i % 10 === 9;
    const emitterId = special && i % 20 === 9 && i < 20 * WORKSPACES ? 'dc_*' : emitterOf(special ? i - 1 : i);
    const id = `sub_${String(i).padStart(18, '0')}`;
    const data = {
      subscriptionId: id,
      userId: 'u_1',
      emitterId,
      listenerId: `wh_${String(i).padStart(18, '0')}`,
      eventName: special ? 'orders' : '',
      createdAt: 0,
    };
    table.apply(recorded(`subscription-${id}`, { type: 'SubscriptionCreated', data }, workspaceOf(i)));
  }
  return table;
};

const emitOf = (emitter: string, workspace: string): Emit => ({
  headers: {
    kind: 'emit',
    id: '1700000000000-0',
    emitter,
    workspace,
    channel: '',
    emit: 'emit',
    hops: '0',
  },
  value: '{}',
});

const nsEach = (count: number, work: (i: number) => void): number => {
  for (let i = 0; i < count / 10; i++) work(i);
  const start = performance.now();
  for (let i = 0; i < count; i++) work(i);
  return ((performance.now() - start) * 1_000_000) / count;
};

const heapMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

const rows = SIZES.map((size) => {
  const before = heapMb();
  const start = performance.now();
  const table = tableOf(size);
  const buildMs = performance.now() - start;
  const heap = heapMb() - before;
  const picks = Array.from({ length: 4_096 }, () => {
    const i = Math.floor(Math.random() * size);
    return { emitter: emitterOf(i % 10 === 9 ? i - 1 : i), workspace: workspaceOf(i) };
  });
  const pick = (i: number): { readonly emitter: string; readonly workspace: string } =>
    picks[i % picks.length] ?? picks[0]!;
  const matches = picks.reduce((sum, { emitter, workspace }) => sum + table.match(emitter, workspace, '').length, 0);
  const hit = nsEach(LOOKUPS, (i) => table.match(pick(i).emitter, pick(i).workspace, ''));
  const miss = nsEach(LOOKUPS, (i) => table.match(pick(i).emitter, pick(i).workspace, 'nobody'));
  const emits = picks.map(({ emitter, workspace }) => emitOf(emitter, workspace));
  const routed = nsEach(ROUTES, (i) => routeEmit(emits[i % emits.length] ?? emits[0]!, table, topics, 0));
  return [
    size.toLocaleString('en'),
    (matches / picks.length).toFixed(2),
    hit.toFixed(0),
    miss.toFixed(0),
    routed.toFixed(0),
    buildMs.toFixed(1),
    globalThis.gc ? heap.toFixed(1) : '-',
  ];
});

const header = ['subscriptions', 'matches an emit', 'look-up ns', 'no match ns', 'routed ns', 'built ms', 'heap MB'];
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
console.log([line(header), line(header.map(() => '---:')), ...rows.map(line)].join('\n'));
