import { setTimeout as pause } from 'node:timers/promises';
import { type KafkaBroker } from '#test/engines/kafka-broker.js';
import { brokerFigures, openFilesLimit, type BrokerFigures } from './broker-figures.js';
import { median } from './memory.js';
import { PartProcess } from './part-process.js';
import { treeUsage } from './process-tree.js';
import {
  type CreateResult,
  type Layout,
  type MetadataCost,
  type PublishResult,
  type TopicClientApi,
} from './topic-parts.js';

export interface LayoutFigures {
  readonly layout: Layout;
  readonly asked: number;
  /** Fewer than `asked` when files or time ran out. */
  readonly emitters: number;
  readonly partitions: number;
  readonly openFilesLimit: number;
  readonly create: CreateResult;
  readonly empty: BrokerFigures;
  readonly holding: BrokerFigures;
  /** CPU use of the broker in % of a core: without clients, and with one idle consumer of all emits. */
  readonly brokerIdlePercent: number;
  readonly brokerWatchedPercent: number;
  readonly publish: PublishResult & { readonly brokerCpuUs: number };
  /** Time until the first member alone holds all lanes, ms. null in this and the next three: time limit exceeded. */
  readonly firstMemberMs: number | null;
  readonly secondJoinsMs: number | null;
  readonly secondKilledMs: number | null;
  readonly secondLeavesMs: number | null;
  readonly consumer: IdleConsumer;
  readonly metadata: MetadataCost;
  /** Time from the creation of a new emitter until a consumer gets its first record, ms. */
  readonly firstRecordMs: { readonly median: number; readonly worst: number };
  readonly cleanRestart: Restart;
  readonly restartAfterKill: Restart;
}

export interface IdleConsumer {
  readonly cpuPercent: number;
  readonly readKbPerSecond: number;
  readonly writtenKbPerSecond: number;
  readonly rssMb: number;
}

export interface Restart {
  readonly stopMs: number;
  readonly listensMs: number;
  /** Time until a sample of topics accepted a record. */
  readonly takesRecordsMs: number;
}

export interface LayoutOptions {
  readonly layout: Layout;
  readonly emitters: number;
  readonly partitions: number;
  readonly limitMs: number;
  readonly dir: string;
  readonly broker: KafkaBroker;
  readonly restart: (port: number) => Promise<KafkaBroker>;
  readonly say: (line: string) => void;
}

type Client = PartProcess<TopicClientApi>;

const CALM_MS = 5_000;
const IDLE_MS = 10_000;
const PUBLISH_MS = 10_000;
const POLL_MS = 50;
const NEW_EMITTERS = 10;
/** Files that a broker keeps open besides partitions: jars, sockets, its own topics. */
const OTHER_FILES = 1_000;
const TOPICS_OF_AN_EMITTER = 2;

/** Measures one layout with one number of emitters on one broker, step by step. */
export class LayoutRun {
  private broker: KafkaBroker;
  private readonly clients = new Set<Client>();
  private readonly limit: number;

  constructor(private readonly options: LayoutOptions) {
    this.broker = options.broker;
    this.limit = openFilesLimit(this.broker.pid);
  }

  async measure(): Promise<LayoutFigures> {
    const { layout, emitters: asked, limitMs, dir, partitions } = this.options;
    const fits = Math.floor((this.limit - OTHER_FILES) / TOPICS_OF_AN_EMITTER);
    const target = layout === 'per_emitter' ? Math.min(asked, fits) : asked;
    const empty = await this.step('empty', () => brokerFigures(this.broker.pid, dir));
    const publisher = await this.client();
    const create = await this.step('create', () => publisher.call('create', { from: 0, to: target, limitMs }));
    const { emitters } = create;
    await pause(CALM_MS);
    const brokerIdlePercent = await this.brokerPercent();
    const publish = await this.step('publish', () => this.publish(publisher, emitters));
    const lanes = layout === 'per_emitter' ? emitters : partitions;
    const members = await this.members(lanes);
    const newRecords = await this.step('first record', () => this.firstRecords(publisher, members.consumer, emitters));
    const second = await this.second(members.consumer, lanes + (layout === 'per_emitter' ? NEW_EMITTERS : 0));
    const holding = await this.step('holding', () => brokerFigures(this.broker.pid, dir));
    await this.end(members.consumer);
    await this.end(publisher);
    const restarts = await this.restarts(emitters);
    return {
      layout,
      asked,
      emitters,
      partitions: this.partitionsOf(emitters),
      openFilesLimit: this.limit,
      create,
      empty,
      holding,
      brokerIdlePercent,
      publish,
      ...second,
      ...restarts,
      brokerWatchedPercent: members.brokerPercent,
      firstMemberMs: members.firstMemberMs,
      consumer: members.idle,
      metadata: members.metadata,
      firstRecordMs: newRecords,
    };
  }

  async close(): Promise<void> {
    for (const client of [...this.clients]) await this.end(client);
    await this.broker.stop();
  }

  private partitionsOf(emitters: number): number {
    const { layout, partitions } = this.options;
    return layout === 'per_emitter' ? TOPICS_OF_AN_EMITTER * emitters + 1 : 4 * partitions;
  }

  private async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await work();
    this.options.say(`  ${name} (${((performance.now() - began) / 1_000).toFixed(1)} s): ${JSON.stringify(result)}`);
    return result;
  }

  private async client(): Promise<Client> {
    const { layout, partitions } = this.options;
    const args = [this.broker.brokers, layout, String(partitions)];
    const client = await PartProcess.start<TopicClientApi>('./topic-client.js', args);
    this.clients.add(client);
    return client;
  }

  private async end(client: Client): Promise<void> {
    if (!this.clients.delete(client)) return;
    await client.stop();
  }

  private async publish(client: Client, emitters: number): Promise<LayoutFigures['publish']> {
    // Every emitter once: the broker opens files when they are first written to.
    const { limitMs } = this.options;
    await client.call('publish', { emitters, durationMs: limitMs, limit: emitters });
    const before = treeUsage(this.broker.pid).cpuUs;
    const result = await client.call('publish', { emitters, durationMs: PUBLISH_MS, limit: Number.MAX_SAFE_INTEGER });
    return { ...result, brokerCpuUs: (treeUsage(this.broker.pid).cpuUs - before) / result.records };
  }

  private async brokerPercent(): Promise<number> {
    const before = treeUsage(this.broker.pid).cpuUs;
    await pause(IDLE_MS);
    return (treeUsage(this.broker.pid).cpuUs - before) / (IDLE_MS * 10);
  }

  /** Starts the first member of the group and measures its idle cost. */
  private async members(lanes: number) {
    const consumer = await this.client();
    const firstMemberMs = await this.step('first member', () => this.joined(consumer, [consumer], lanes));
    await this.caughtUp(consumer);
    await pause(CALM_MS);
    const [before, brokerBefore] = [await consumer.call('traffic', undefined), treeUsage(this.broker.pid).cpuUs];
    await pause(IDLE_MS);
    const after = await consumer.call('traffic', undefined);
    const seconds = IDLE_MS / 1_000;
    const idle: IdleConsumer = {
      cpuPercent: (after.cpuUs - before.cpuUs) / (seconds * 10_000),
      readKbPerSecond: (after.readBytes - before.readBytes) / 1_024 / seconds,
      writtenKbPerSecond: (after.writtenBytes - before.writtenBytes) / 1_024 / seconds,
      rssMb: after.rssMb,
    };
    const brokerPercent = (treeUsage(this.broker.pid).cpuUs - brokerBefore) / (seconds * 10_000);
    const metadata = await this.step('metadata', () => consumer.call('metadata', undefined));
    return { consumer, firstMemberMs, idle, brokerPercent, metadata };
  }

  private async caughtUp(consumer: Client): Promise<void> {
    let before = -1;
    for (;;) {
      const { received } = await consumer.call('held', undefined);
      if (received === before) return;
      before = received;
      await pause(1_000);
    }
  }

  /** Joins one more member; until all of them together hold all lanes and the new one has some. */
  private async joined(newcomer: Client, all: readonly Client[], lanes: number): Promise<number | null> {
    const began = performance.now();
    const consuming = newcomer.call('consume', undefined);
    const taken = await this.untilHeld(began, all, newcomer, lanes);
    await consuming;
    return taken;
  }

  private async untilHeld(
    began: number,
    members: readonly Client[],
    newcomer: Client | undefined,
    lanes: number,
  ): Promise<number | null> {
    while (performance.now() - began < this.options.limitMs) {
      const held = await Promise.all(members.map((member) => member.call('held', undefined)));
      const sum = held.reduce((total, each) => total + each.lanes, 0);
      const own = newcomer ? (held[members.indexOf(newcomer)]?.lanes ?? 0) : 1;
      if (sum === lanes && own > 0) return performance.now() - began;
      await pause(POLL_MS);
    }
    return null;
  }

  private async firstRecords(
    publisher: Client,
    consumer: Client,
    emitters: number,
  ): Promise<{ median: number; worst: number }> {
    const times: number[] = [];
    for (let n = 0; n < NEW_EMITTERS; n++) {
      const { key, began } = await publisher.call('newEmitter', { n: emitters + n });
      const until = performance.now() + this.options.limitMs;
      let at: number | null = null;
      while (at === null && performance.now() < until) {
        await pause(10);
        at = await consumer.call('arrivedAt', { key });
      }
      times.push(at === null ? Infinity : (at - began) / 1_000);
    }
    return { median: median(times), worst: Math.max(...times) };
  }

  /** A second member joins and is killed; joins again and leaves. */
  private async second(first: Client, lanes: number) {
    const killed = await this.client();
    const secondJoinsMs = await this.step('second joins', () => this.joined(killed, [first, killed], lanes));
    process.kill(killed.pid, 'SIGKILL');
    this.clients.delete(killed);
    const secondKilledMs = await this.step('second killed', () =>
      this.untilHeld(performance.now(), [first], undefined, lanes),
    );
    const leaving = await this.client();
    await this.joined(leaving, [first, leaving], lanes);
    const began = performance.now();
    const left = leaving.call('close', undefined);
    const secondLeavesMs = await this.step('second leaves', () => this.untilHeld(began, [first], undefined, lanes));
    await left;
    await this.end(leaving);
    return { secondJoinsMs, secondKilledMs, secondLeavesMs };
  }

  private async restarts(emitters: number): Promise<Pick<LayoutFigures, 'cleanRestart' | 'restartAfterKill'>> {
    const port = Number(this.broker.brokers.split(':')[1]);
    const cleanRestart = await this.step('clean restart', () =>
      this.restarted(emitters, async () => {
        await this.broker.stop();
        const stopped = performance.now();
        this.broker = await this.options.restart(port);
        return stopped;
      }),
    );
    const restartAfterKill = await this.step('restart after kill -9', () =>
      this.restarted(emitters, async () => {
        await this.broker.kill9();
        const stopped = performance.now();
        await this.broker.start();
        return stopped;
      }),
    );
    return { cleanRestart, restartAfterKill };
  }

  private async restarted(emitters: number, work: () => Promise<number>): Promise<Restart> {
    const began = performance.now();
    const stopped = await work();
    const listensMs = performance.now() - stopped;
    const client = await this.client();
    await client.call('publish', { emitters: Math.min(emitters, 100), durationMs: this.options.limitMs, limit: 100 });
    const takesRecordsMs = performance.now() - stopped;
    await this.end(client);
    return { stopMs: stopped - began, listensMs, takesRecordsMs };
  }
}
