import { AsyncResource } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { install } from '@sinonjs/fake-timers';
import { type RunningChild } from '../child/start-child.js';

/** Kept before the clock stops. */
const pause = setTimeout;

/** Handles that are open all the time, and what runs code without waiting for anything outside. */
const AT_REST: ReadonlySet<string> = new Set([
  ...['PipeWrap', 'TTYWrap', 'TCPSocketWrap', 'TCPServerWrap', 'UDPWrap', 'FSEventWrap', 'SignalWrap', 'MessagePort'],
  ...['Timeout', 'Immediate', 'TickObject', 'Microtask'],
]);
/** Turns of the event loop, and a time, in which code that does not only wait shows it. */
const TURNS = 4;
const REST_MS = 2;
/** Rests without a timer after which the code counts as stuck. Work of threads, such as hashing, may take that long. */
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

  constructor() {
    this.keepContext();
    AbortSignal.timeout = (ms) => {
      const aborts = new AbortController();
      const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
      setTimeout(() => aborts.abort(late), ms);
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
    let stuckMs = 0;
    // A run starts in a later turn than its record.
    await rest();
    while (child.isActive()) {
      await rest();
      if (!child.isActive()) return;
      if (told.isWaiting || !isAtRest()) continue;
      const next = this.clock.timerHeap?.peek()?.callAt;
      if (next !== undefined) {
        stuckMs = 0;
        if (!(await told.waitedUntil(next))) return;
        await this.clock.nextAsync();
        continue;
      }
      stuckMs += REST_MS;
      if (stuckMs < STUCK_MS) continue;
      await told.isStuck();
      return;
    }
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

const rest = async (): Promise<void> => {
  for (let turns = 0; turns < TURNS; turns++) await turn();
  await new Promise((done) => pause(done, REST_MS));
};
