import { AsyncResource } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { install } from '@sinonjs/fake-timers';
import { type RunningChild } from '../child/start-child.js';

/** Kept before the clock stops. */
const pause = setTimeout;
const { performance: real } = globalThis;
const elapsed = real.now.bind(real);

/** What is open all the time. Timers are those of this file, because the others are faked. */
const AT_REST: ReadonlySet<string> = new Set([
  ...['PipeWrap', 'TTYWrap', 'TCPSocketWrap', 'TCPServerWrap', 'UDPWrap', 'FSEventWrap', 'SignalWrap', 'MessagePort'],
  'Timeout',
]);
/** Turns of the event loop, and a time, in which code that does not only wait shows it. */
const TURNS = 4;
const REST_MS = 2;
const LONG_REST_MS = 50;
/** Rest after which code waits for the time limit of a request, which most code forgets once it has an answer. */
const FORGOTTEN_MS = 500;
/** Rest without a timer after which the code counts as stuck. Work of threads, such as hashing, takes time of the CPU. */
const STUCK_MS = 2_000;

interface ToldOfTime {
  readonly isWaiting: boolean;
  waitedUntil(at: number): Promise<boolean>;
  isStuck(): Promise<void>;
}

/** A clock that stands still while code runs, and goes to the next timer when the code only waits. */
export class StoppedClock {
  private readonly clock = install({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'Intl', 'performance', 'hrtime'],
  });
  private following = false;
  /** Code of the timers of AbortSignal.timeout. */
  private readonly limits = new WeakSet<object>();

  constructor() {
    const { setTimeout: once } = this.clock;
    this.keepContext();
    AbortSignal.timeout = (ms) => {
      const aborts = new AbortController();
      const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
      const abort = (): void => aborts.abort(late);
      this.limits.add(abort);
      once(abort, ms);
      return aborts.signal;
    };
  }

  set(now: number): void {
    this.clock.setSystemTime(now);
  }

  /** Moves the time on while the child is active. */
  follow(child: Pick<RunningChild, 'isActive'>, told: ToldOfTime): void {
    if (this.following) return;
    this.following = true;
    void this.go(child, told).then(
      () => (this.following = false),
      // The test is over.
      () => process.reallyExit(1),
    );
  }

  private async go(child: Pick<RunningChild, 'isActive'>, told: ToldOfTime): Promise<void> {
    let since = elapsed();
    let { user: usedBefore } = process.cpuUsage();
    // A run starts in a later turn than its record.
    await rest(REST_MS);
    while (child.isActive()) {
      const isForgotten = elapsed() - since >= FORGOTTEN_MS;
      await rest(isForgotten ? LONG_REST_MS : REST_MS);
      if (!child.isActive()) return;
      if (told.isWaiting || !isAtRest()) {
        since = elapsed();
        continue;
      }
      const next = this.nextAt(isForgotten);
      if (next !== undefined) {
        if (!(await told.waitedUntil(next))) return;
        await this.clock.tickAsync(next - this.clock.now);
        since = elapsed();
      }
      if (elapsed() - since < STUCK_MS) continue;
      const { user } = process.cpuUsage();
      const isWorking = (user - usedBefore) / 1000 > STUCK_MS / 2;
      [since, usedBefore] = [elapsed(), user];
      if (!isWorking) return told.isStuck();
    }
  }

  /** Time of the next timer. */
  private nextAt(withLimits: boolean): number | undefined {
    let next: number | undefined;
    for (const { callAt, func } of this.clock.timers?.values() ?? [])
      if (callAt !== undefined && (withLimits || !this.limits.has(func))) next = Math.min(next ?? callAt, callAt);
    return next;
  }

  /** Code of a timer belongs to the run that set it, as with the timers of Node. */
  private keepContext(): void {
    const { clock } = this;
    const { setTimeout: once, setInterval: often } = clock;
    clock.setTimeout = (code, ...rest) => once(typeof code === 'function' ? AsyncResource.bind(code) : code, ...rest);
    clock.setInterval = (code, ...rest) => often(typeof code === 'function' ? AsyncResource.bind(code) : code, ...rest);
  }
}

const isAtRest = (): boolean => process.getActiveResourcesInfo().every((name) => AT_REST.has(name));

const rest = async (ms: number): Promise<void> => {
  for (let turns = 0; turns < TURNS; turns++) await turn();
  await new Promise((done) => pause(done, ms));
};
