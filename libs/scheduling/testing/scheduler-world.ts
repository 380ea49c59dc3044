import { afterEach } from '@jest/globals';
import { type Timer } from '#libs/sources/published.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import {
  type Alarm,
  type ArmedTimer,
  type ArmedTimers,
  type Scheduler,
  startScheduler,
  type TimerSources,
} from '../scheduler.js';
import { InMemoryTicks } from './in-memory-ticks.js';

export const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });
export const START = Date.parse('2024-03-10T10:00:00Z');
export const every = (seconds: number, prop = 'timer'): Timer => ({
  kind: 'timer',
  prop,
  cron: null,
  intervalSeconds: seconds,
  timezone: null,
});
export const cron = (pattern: string, prop = 'timer'): Timer => ({
  kind: 'timer',
  prop,
  cron: pattern,
  intervalSeconds: null,
  timezone: null,
});

/** Clock that the spec advances. Alarms that fall due on the way ring. */
class FakeTime {
  now = START;
  readonly waits: number[] = [];
  private alarms: { readonly at: number; readonly ring: () => void }[] = [];

  readonly clock = { now: () => this.now };
  readonly alarm: Alarm = (ms, ring) => {
    this.waits.push(ms);
    const entry = { at: this.now + ms, ring };
    this.alarms.push(entry);
    return () => (this.alarms = this.alarms.filter((other) => other !== entry));
  };

  get pending(): number {
    return this.alarms.length;
  }

  async advance(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      await turnsPassed();
      const [next] = this.alarms.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.alarms = this.alarms.filter((other) => other !== next);
      this.now = Math.max(this.now, next.at);
      next.ring();
    }
    this.now = until;
  }
}

const turnsPassed = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

export const until = async (holds: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 1))) {
    if (Date.now() > end) throw new Error(`still waiting for ${holds.toString()}`);
  }
};

class Sources implements TimerSources {
  private readonly rows = new Map<string, ArmedTimers>();
  private readonly listeners = new Set<(armed: ArmedTimers) => void>();

  get listening(): number {
    return this.listeners.size;
  }
  ids(): Iterable<string> {
    return this.rows.keys();
  }
  armed(sourceId: string): ArmedTimers | undefined {
    return this.rows.get(sourceId);
  }
  onTimersChanged(listener: (armed: ArmedTimers) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  set(sourceId: string, timers: readonly ArmedTimer[], since: number, first = false): void {
    const armed = { sourceId, workspaceId: 'o_1', timers, since, first };
    this.rows.set(sourceId, armed);
    for (const listener of this.listeners) listener(armed);
  }
  remove(sourceId: string): void {
    this.rows.delete(sourceId);
    for (const listener of this.listeners)
      listener({ sourceId, workspaceId: 'o_1', timers: [], since: 0, first: false });
  }
}

/** Makes worlds for one spec file, and closes their schedulers after each test. */
export const schedulerWorlds = () => {
  const running: Scheduler[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((scheduler) => scheduler.close()));
  });
  return async () => {
    const log = new InMemoryStreamLog();
    for (const id of ['dc_a', 'dc_b']) await log.createTopic(topics.invocations(id), {});
    const time = new FakeTime();
    const sources = new Sources();
    const ticks = new InMemoryTicks();
    const failures: string[] = [];
    const start = async (): Promise<Scheduler> => {
      const { clock, alarm } = time;
      const error = (fields: object): void => void failures.push((fields as { err: Error }).err.message);
      const logger = { error };
      const scheduler = await startScheduler({ sources, ticks, log, topics, clock, alarm, logger });
      running.push(scheduler);
      return scheduler;
    };
    const given = async (sourceId = 'dc_a') => {
      const records = await log.read(topics.invocations(sourceId), -1, 100_000);
      return records.map(({ headers, value }) => ({
        id: headers['id'],
        prop: headers['prop'],
        /** Scheduled time in seconds after the start. */
        at: (JSON.parse(value) as { timestamp: number }).timestamp - START / 1000,
      }));
    };
    const timesOf = async (sourceId = 'dc_a'): Promise<number[]> => (await given(sourceId)).map(({ at }) => at);
    return { log, time, sources, ticks, failures, start, given, timesOf };
  };
};
