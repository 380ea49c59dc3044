import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { openKafka as openThis } from '#libs/engines/kafka/index.js';
import { EARLIER_FORMS, type Forms } from '#libs/kernel/forms.js';
import { type Consumer, type LaneBatch, type StreamLog } from '#libs/stream-log/stream-log.js';
import { eventually } from '#test/harness/wait.js';

type Log = StreamLog & { close(): Promise<void> };

export interface MixedGroupReport {
  readonly records: number;
  readonly handled: number;
  /** Takeovers of a lane by the other release. */
  readonly moves: number;
  /** Lanes that a member took while another one still worked on them. */
  readonly overlaps: readonly string[];
  readonly lost: number;
}

const TOPIC = 't';
const GROUP = 'g';
const LANES = 12;
/** Longer than a claim takes, so that a lane that is taken too early is seen. */
const WORK_MS = 2_000;
const PAUSE_MS = 180;

/** Forms that may be withdrawn, as when a process of an earlier release starts. */
class SwitchedForms implements Forms {
  private readonly listeners: (() => void)[] = [];

  constructor(private may: boolean) {}

  mayWrite(): boolean {
    return this.may;
  }

  onWithdrawn(listener: () => void): void {
    this.listeners.push(listener);
  }

  withdraw(): void {
    this.may = false;
    for (const listener of this.listeners) listener();
  }
}

/** Who works on each lane, and what was done. */
class Watch {
  readonly overlaps: string[] = [];
  readonly done = new Set<string>();
  handled = 0;
  moves = 0;
  private readonly workers = new Map<string, string>();
  private readonly lastOf = new Map<string, string>();

  async work(name: string, batch: LaneBatch): Promise<void> {
    for (const { offset, value } of batch.records) {
      if (batch.revoked()) return;
      const other = this.workers.get(batch.lane);
      if (other !== undefined && other !== name)
        this.overlaps.push(`${name} took ${batch.lane} from ${other} at ${offset}`);
      this.workers.set(batch.lane, name);
      if ((this.lastOf.get(batch.lane) ?? name) !== name) this.moves++;
      this.lastOf.set(batch.lane, name);
      await pause(WORK_MS);
      this.workers.delete(batch.lane);
      this.done.add(value);
      this.handled++;
      batch.ack(offset);
    }
  }
}

export interface MixedGroupOptions {
  readonly brokers: readonly string[];
  /** Folder of the last release, built. */
  readonly lastRelease: string;
  /** Uses the later form whoever lives, to show that the test sees what that breaks. */
  readonly isControl: boolean;
}

/**
 * Members of both releases in one group, which join and leave while every lane has work: a member of the last release
 * beside one of this release, that one alone, and the way back. No lane may have two at work at once.
 */
export const runMixedGroup = async ({
  brokers,
  lastRelease,
  isControl,
}: MixedGroupOptions): Promise<MixedGroupReport> => {
  const built = pathToFileURL(join(lastRelease, 'dist/libs/engines/kafka/index.js')).href;
  const { openKafka: openOld } = (await import(built)) as { openKafka: (options: object) => Promise<Log> };
  const options = { brokers, prefix: `mixed-${process.pid}.`, replicationFactor: 3, onWarning: () => undefined };
  const old = (name: string): Promise<Log> => openOld({ ...options, clientId: name });
  const ours = (name: string, forms: Forms): Promise<Log> => openThis({ ...options, clientId: name, forms });
  const watch = new Watch();
  const joined = async (name: string, log: Log): Promise<Member> => ({ log, consumer: await follow(log, name, watch) });

  const writer = await ours('writer', EARLIER_FORMS);
  await writer.createTopic(TOPIC, {}, LANES);
  const load = new Load(writer);
  const forms = new SwitchedForms(isControl);
  // Up: the last release alone, both, this release alone.
  const first = await joined('old 1', await old('old-1'));
  load.start();
  await pause(4 * WORK_MS);
  const second = await joined('new 1', await ours('new-1', forms));
  await pause(6 * WORK_MS);
  await leave(first);
  await pause(4 * WORK_MS);
  const whole = new SwitchedForms(true);
  const third = await joined('new 2', await ours('new-2', whole));
  await leave(second);
  await pause(4 * WORK_MS);
  // Back: one of the last release joins where the later form is in use. The others notice it when it reports.
  if (!isControl) whole.withdraw();
  const fourth = await joined('old 2', await old('old-2'));
  await pause(6 * WORK_MS);
  await leave(third);
  const sent = await load.stop();
  await eventually('everything is done', () => (watch.done.size === sent ? true : undefined), 120_000, 200);
  await leave(fourth);
  await writer.deleteTopic(TOPIC);
  await writer.close();
  const { handled, moves, overlaps } = watch;
  return { records: sent, handled, moves, overlaps, lost: sent - watch.done.size };
};

interface Member {
  readonly log: Log;
  readonly consumer: Consumer;
}

const leave = async ({ log, consumer }: Member): Promise<void> => {
  await consumer.close();
  await log.close();
};

const follow = (log: Log, name: string, watch: Watch): Promise<Consumer> => {
  const works = new Map<string, SerialQueue>();
  const of = (lane: string): SerialQueue => {
    const known = works.get(lane) ?? new SerialQueue();
    works.set(lane, known);
    return known;
  };
  return log.consume({
    group: GROUP,
    topics: { names: [TOPIC] },
    maxBatch: 1,
    maxUnacked: 1,
    handler: (batch) => of(batch.lane).run(() => watch.work(name, batch)),
    onRevoked: (lane) => of(lane).idle(),
  });
};

class Load {
  private sent = 0;
  private stopping = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly log: Log) {}

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<number> {
    this.stopping = true;
    await this.running;
    return this.sent;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      const value = String(++this.sent);
      await this.log.publish([{ topic: TOPIC, key: value, headers: { id: value }, value }]);
      await pause(PAUSE_MS);
    }
  }
}
