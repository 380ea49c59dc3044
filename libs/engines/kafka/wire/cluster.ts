import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { Backoff, type BackoffOptions } from '#libs/async/backoff.js';
import { withDeadline } from '#libs/async/deadline.js';
import { pause } from '#libs/async/pause.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { BrokerAway, BrokerConnection, failIf } from './broker-connection.js';
import { CODE, isCoordinatorMoving, type Api, type Apis } from './protocol.js';
import { RefusedConnection } from './refused-connection.js';
import { type KafkaSecurity } from './security.js';
import { TellingFaults } from './telling-faults.js';

/** A topic as last reported by the brokers. */
export interface TopicMetadata {
  readonly name: string;
  /** Assigned by the brokers at the creation. A topic created again under the same name has another id. */
  readonly id: string;
  /** Leading broker of each partition; -1 while it has none. */
  readonly leaders: readonly number[];
  /** Number of brokers that have a copy of each partition, in sync or not. */
  readonly copies: readonly number[];
}

export interface ClusterOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly security?: KafkaSecurity | undefined;
  readonly onWarning: (text: string, fields: Record<string, unknown>) => void;
}

/** Pauses between attempts while a broker, a leader or a coordinator is away. */
export const RETRY_PAUSES: BackoffOptions = { firstMs: 50, longestMs: 1_000 };

const PING_MS = 2_000;
/** How long to wait for a broker that restarts. */
const ANY_MS = 10_000;
/** A topic that one broker does not know may be new to it, so only the second answer counts. */
const LOOK_AGAIN_MS = 200;
const UNKNOWN = CODE.UNKNOWN_TOPIC_OR_PARTITION;
/** Requests about a reported topic before it counts as deleted. */
const LOOKS = 5;
/** Time for one broker to answer when any other could answer too. */
const ONE_OF_MANY_MS = 5_000;
/** Time in which a broker that did not answer is asked after the others. */
const AILING_MS = 30_000;

interface Known extends TopicMetadata {
  /** Leader epoch of each partition. It grows with each election. */
  readonly epochs: readonly number[];
  /** Number of the request that last reported it. */
  readonly toldBy: number;
  missed: boolean;
}

/** Brokers, topics, leaders and coordinators, with connections by purpose. Topics have their full names here. */
export class Cluster {
  private readonly nodes = new Map<number, { readonly host: string; readonly port: number }>();
  /** The brokers that are up, according to the others. */
  private listed: ReadonlySet<number> = new Set();
  private readonly links = new Map<string, BrokerConnection>();
  private readonly coordinators = new Map<string, number>();
  private readonly known = new Map<string, Known>();
  private readonly listeners = new Set<() => void>();
  private controllerId = -1;
  /** Last time at which a broker did not answer, by address (process uptime). */
  private readonly ailing = new Map<string, number>();
  private requests = 0;
  private turn = 0;
  private refreshing: Promise<void> | undefined;
  private closed = false;
  private readonly faults: TellingFaults;
  /** Shared by all connections. */
  private readonly trust = { hasAnswered: false };

  constructor(private readonly options: ClusterOptions) {
    this.faults = new TellingFaults(options.onWarning);
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** Reports a fault once while it lasts, and once when it is over (see TellingFaults). */
  warn(text: string, error: unknown, fields: Record<string, unknown> = {}): void {
    if (!this.closed) this.faults.tell(text, error, fields);
  }

  /** Registers a listener for new and deleted topics, and for partitions with a new leader. */
  onTopics(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  topic(name: string): TopicMetadata | undefined {
    return this.known.get(name);
  }

  /** The newest known epoch of the partition's leader; -1 when it is not known. */
  epochOf({ topic, partition }: { readonly topic: string; readonly partition: number }): number {
    return this.known.get(topic)?.epochs[partition] ?? -1;
  }

  topics(): IterableIterator<TopicMetadata> {
    return this.known.values();
  }

  /** Reads the metadata of all topics. Concurrent calls share one request. */
  refresh(): Promise<void> {
    this.refreshing ??= this.readAll().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Reads the metadata of one topic; undefined when the brokers do not know it. */
  async refreshTopic(name: string): Promise<TopicMetadata | undefined> {
    const { told, changed } = await this.read([name]);
    if (changed) this.changed();
    return told.has(name) ? this.known.get(name) : undefined;
  }

  /**
   * Returns the topics that no broker knows. One broker's answer is not enough, because it may have just started. A
   * broker that is up and does not answer may know all of them.
   */
  async gone(names: readonly string[]): Promise<ReadonlySet<string>> {
    const looks = await Promise.all(
      this.brokers().map(async (node) => {
        try {
          const looking = this.call(node, 'look', 'Metadata', { topics: names });
          const { topics } = await withDeadline(looking, ONE_OF_MANY_MS, `broker ${node}`);
          return new Set(topics.flatMap(({ topic, errorCode }) => (errorCode === UNKNOWN ? [topic] : [])));
        } catch (error) {
          this.warn('a broker does not tell which topics it knows', error, { broker: node });
          return new Set<string>();
        }
      }),
    );
    return new Set(looks.length === 0 ? [] : names.filter((name) => looks.every((unknown) => unknown.has(name))));
  }

  /**
   * Reads the metadata of topics that other processes created or deleted. A broker may learn of a topic later than
   * others, so missing topics are looked for again. Never rejects.
   */
  async look(names: readonly string[]): Promise<void> {
    let left = names;
    try {
      for (let looks = 1; ; looks++) {
        const { told, changed } = await this.read(left);
        if (changed) this.changed();
        left = left.filter((name) => !told.has(name));
        if (left.length === 0 || this.closed) return;
        if (looks === LOOKS) break;
        await pause(LOOK_AGAIN_MS);
      }
      for (const name of await this.gone(left)) this.forget(name);
    } catch (error) {
      this.warn('topics that came or went could not be looked for', error);
    }
  }

  /** Forgets a topic that this process deleted. */
  forget(name: string): void {
    if (this.known.delete(name)) this.changed();
  }

  /** Calls one broker over the connection for this purpose. */
  call<A extends Api>(node: number, purpose: string, api: A, args: Apis[A]['args']): Promise<Apis[A]['reply']> {
    const address = this.nodes.get(node);
    if (!address) return Promise.reject(new EngineUnavailable('Kafka', `broker ${node} is unknown`));
    return this.link(address.host, address.port, `${node} ${purpose}`).call(api, args);
  }

  /**
   * Calls the brokers in turn for some seconds until one answers. Rejects, naming them, when none does: with
   * RefusedConnection when each of them refuses this process.
   */
  async callAny<A extends Api>(api: A, args: Apis[A]['args'], withinMs: number = ANY_MS): Promise<Apis[A]['reply']> {
    const until = performance.now() + withinMs;
    const backoff = new Backoff(RETRY_PAUSES);
    for (;;) {
      const failures: unknown[] = [];
      for (const { host, port } of this.addresses()) {
        try {
          const link = this.link(host, port, 'any');
          const late = (): Error => {
            link.drop();
            return new BrokerAway(`${host}:${port}`, new Error(`no answer within ${ONE_OF_MANY_MS} ms`));
          };
          const reply = await withDeadline(link.call(api, args), ONE_OF_MANY_MS, late);
          this.ailing.delete(`${host}:${port}`);
          return reply;
        } catch (error) {
          this.ailing.set(`${host}:${port}`, performance.now());
          failures.push(error);
        }
      }
      if (this.closed || performance.now() >= until) {
        throw this.noAnswer(failures);
      }
      await pause(backoff.next());
    }
  }

  private noAnswer(failures: readonly unknown[]): Error {
    const refused = failures.filter((failure) => failure instanceof RefusedConnection);
    const [first] = refused;
    if (first && refused.length === failures.length) return first;
    const reason = first ?? failures.at(-1);
    return new EngineUnavailable(
      'Kafka',
      `no broker of ${this.options.brokers.join(', ')} answers: ${messageOf(reason)}`,
      {
        cause: reason,
      },
    );
  }

  /** Calls the controller's broker. In KRaft it is any broker, which forwards to the controller. */
  async callController<A extends Api>(api: A, args: Apis[A]['args']): Promise<Apis[A]['reply']> {
    if (!this.nodes.has(this.controllerId)) await this.refresh();
    try {
      return await this.call(this.controllerId, 'admin', api, args);
    } catch (error) {
      // The controller may be gone, and the brokers name another one.
      this.controllerId = -1;
      throw error;
    }
  }

  /** The brokers that are up. */
  brokers(): readonly number[] {
    return [...this.listed];
  }

  /** Calls the group's coordinator. The caller handles error codes, and forgets a coordinator that moved. */
  async callCoordinator<A extends Api>(
    group: string,
    purpose: string,
    api: A,
    args: Apis[A]['args'],
  ): Promise<Apis[A]['reply']> {
    try {
      return await this.call(await this.coordinatorOf(group), purpose, api, args);
    } catch (error) {
      this.coordinators.delete(group);
      throw error;
    }
  }

  forgetCoordinator(group: string): void {
    this.coordinators.delete(group);
  }

  /** Closes the connections for a purpose, so that calls waiting on them reject. */
  drop(purpose: string): void {
    for (const [key, link] of this.links) if (key.endsWith(` ${purpose}`)) link.drop();
  }

  /** Rejects within 2 s, naming the brokers, when none answers. */
  async ping(): Promise<void> {
    const { brokers } = this.options;
    const answer = this.callAny('Metadata', { topics: [] }, 0);
    const late = (): Error =>
      new EngineUnavailable('Kafka', `Kafka (${brokers.join(', ')}) does not answer within ${PING_MS} ms`);
    await withDeadline(answer, PING_MS, late);
  }

  close(): void {
    this.closed = true;
    this.faults.close();
    for (const link of this.links.values()) link.close();
    this.listeners.clear();
  }

  private link(host: string, port: number, purpose: string): BrokerConnection {
    const key = `${host}:${port} ${purpose}`;
    let link = this.links.get(key);
    if (!link) this.links.set(key, (link = this.connection(host, port)));
    if (this.closed) link.close();
    return link;
  }

  private connection(host: string, port: number): BrokerConnection {
    const { clientId, security } = this.options;
    return new BrokerConnection(host, port, clientId, security, this.trust);
  }

  private addresses(): readonly { readonly host: string; readonly port: number }[] {
    const given = this.options.brokers.map((broker) => {
      const colon = broker.lastIndexOf(':');
      // As in a URL, the brackets only separate an IPv6 address from the port.
      return { host: broker.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(broker.slice(colon + 1)) };
    });
    const unique = new Map([...this.nodes.values(), ...given].map((each) => [`${each.host}:${each.port}`, each]));
    const all = [...unique.entries()];
    const first = this.turn++ % all.length;
    const since = performance.now() - AILING_MS;
    const ails = (address: string): number => Number((this.ailing.get(address) ?? -Infinity) > since);
    return [...all.slice(first), ...all.slice(0, first)]
      .sort(([a], [b]) => ails(a) - ails(b))
      .map(([, address]) => address);
  }

  private async coordinatorOf(group: string): Promise<number> {
    const backoff = new Backoff(RETRY_PAUSES);
    for (let attempt = 0; ; attempt++) {
      const known = this.coordinators.get(group);
      if (known !== undefined) return known;
      const reply = await this.callAny('FindCoordinator', { groupId: group });
      if (reply.errorCode === CODE.NONE) {
        const { nodeId, host, port } = reply.coordinator;
        this.nodes.set(nodeId, { host, port });
        this.coordinators.set(group, nodeId);
      } else if (isCoordinatorMoving(reply.errorCode) && attempt < 20 && !this.closed) {
        await pause(backoff.next());
      } else {
        failIf(`the coordinator of group ${group}`, reply.errorCode);
      }
    }
  }

  private async readAll(): Promise<void> {
    const request = this.requests + 1;
    const { told, changed } = await this.read(null);
    let suspect = false;
    const missing: string[] = [];
    for (const [name, topic] of this.known) {
      if (told.has(name) || topic.toldBy >= request) continue;
      if (topic.missed) missing.push(name);
      else suspect = topic.missed = true;
    }
    if (suspect) void this.lookAgain();
    const gone = missing.length === 0 ? [] : [...(await this.gone(missing))];
    for (const name of gone) this.known.delete(name);
    if (gone.length > 0 || changed) this.changed();
  }

  private async lookAgain(): Promise<void> {
    await pause(LOOK_AGAIN_MS);
    if (this.closed) return;
    try {
      await this.refresh();
    } catch (error) {
      this.warn('topics could not be read again', error);
    }
  }

  /** `told`: the names of the topics that the brokers reported. `changed`: one of them is new or led by another broker. */
  private async read(
    topics: readonly string[] | null,
  ): Promise<{ readonly told: ReadonlySet<string>; readonly changed: boolean }> {
    const reply = await this.callAny('Metadata', { topics });
    const toldBy = ++this.requests;
    this.controllerId = reply.controllerId;
    this.follow(reply.brokers);
    const told = new Set<string>();
    let changed = false;
    for (const { topic: name, topicId: id, errorCode, partitions } of reply.topics) {
      if (partitions.length === 0 || errorCode === CODE.UNKNOWN_TOPIC_OR_PARTITION) continue;
      const before = this.known.get(name);
      const leaders: number[] = [];
      const epochs: number[] = [];
      const copies: number[] = [];
      for (const { partition, leader, epoch, copies: count } of partitions) {
        const newest = before?.id === id ? (before.epochs[partition] ?? -1) : -1;
        // A broker that was away reports outdated metadata for a moment.
        const isStale = epoch >= 0 && epoch < newest;
        leaders[partition] = isStale ? (before?.leaders[partition] ?? -1) : leader;
        epochs[partition] = Math.max(epoch, newest);
        copies[partition] = count;
      }
      changed ||= before?.id !== id || leaders.some((leader, partition) => leader !== before.leaders[partition]);
      this.known.set(name, { name, id, leaders, epochs, copies, toldBy, missed: false });
      told.add(name);
    }
    return { told, changed };
  }

  /** A broker that the others no longer list is gone or hangs, so calls to it would wait in vain. */
  private follow(brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[]): void {
    for (const { nodeId, host, port } of brokers) this.nodes.set(nodeId, { host, port });
    const listed = (this.listed = new Set(brokers.map(({ nodeId }) => nodeId)));
    for (const [nodeId, { host, port }] of this.nodes) {
      if (listed.has(nodeId)) continue;
      for (const [key, link] of this.links) if (key.startsWith(`${host}:${port} `)) link.drop();
    }
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
