import { type Clock } from '#libs/kernel/clock.js';
import { type InFlightInvocations } from '../in-flight-invocations.js';
import { type Invocation } from '../invocation.js';

/** Knows which of the runs that a process has got have begun: it begins them in order, so many at a time. */
export class BegunRuns {
  private running = 0;
  /** Runs that the process has got and not begun. They are few. */
  private readonly waiting: Invocation[] = [];

  constructor(
    private readonly invocations: Pick<InFlightInvocations, 'begin'>,
    private readonly clock: Clock,
  ) {}

  /** @param most runs that the process has at a time. */
  handedOver(invocation: Invocation, most: number): void {
    if (this.running < most) this.begin(invocation);
    else this.waiting.push(invocation);
  }

  /** Notes that a run ended, or never began. */
  ended(invocation: Invocation): void {
    const at = this.waiting.indexOf(invocation);
    if (at >= 0) {
      this.waiting.splice(at, 1);
      return;
    }
    this.running--;
    const next = this.waiting.shift();
    if (next) this.begin(next);
  }

  private begin(invocation: Invocation): void {
    this.running++;
    this.invocations.begin(invocation, this.clock.now());
  }
}
