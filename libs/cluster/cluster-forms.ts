import { pause } from '#libs/async/pause.js';
import { asError } from '#libs/kernel/error-message.js';
import { agreementAfter, FORMS, isAgreed, NO_AGREEMENT, type Form, type Forms } from '#libs/kernel/forms.js';
import { type ProcessRegistry } from '#libs/kernel/process-registry.js';

/** A look that fails leaves time for another before what was seen is too old to count (`SEEN_MS`). */
export const LOOK_MS = 2_000;

/** The forms that every living process of the installation reads, as this process has seen a moment ago. */
export class ClusterForms implements Forms {
  private agreement = NO_AGREEMENT;
  private mayBefore: readonly Form[] = [];
  private readonly listeners: (() => void)[] = [];
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    /** Of this process in the registry. */
    private readonly id: string,
    /** Monotonic, in ms. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  mayWrite(form: Form): boolean {
    return isAgreed(this.agreement, form, this.now());
  }

  onWithdrawn(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Begins to look. Until then, and while the registry cannot be read, no form may be written. */
  follow(registry: Pick<ProcessRegistry, 'live'>, onFailure: (error: Error) => void): void {
    this.running = this.run(registry, onFailure);
  }

  async close(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  /** Looks once. */
  async look(registry: Pick<ProcessRegistry, 'live'>): Promise<void> {
    // Taken before the answer, so that a slow answer counts as an old one.
    const now = this.now();
    try {
      this.agreement = agreementAfter(this.agreement, await registry.live(), this.id, now);
    } finally {
      this.tellOfWithdrawn();
    }
  }

  private tellOfWithdrawn(): void {
    const may = FORMS.filter((form) => this.mayWrite(form));
    const withdrawn = this.mayBefore.some((form) => !may.includes(form));
    this.mayBefore = may;
    if (withdrawn) for (const listener of this.listeners) listener();
  }

  /** Never rejects. */
  private async run(registry: Pick<ProcessRegistry, 'live'>, onFailure: (error: Error) => void): Promise<void> {
    const { signal } = this.abort;
    while (!signal.aborted) {
      await this.look(registry).catch((error: unknown) => onFailure(asError(error)));
      await pause(LOOK_MS, signal);
    }
  }
}
