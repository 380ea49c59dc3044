import { EXPIRY_MS, SILENCE_MS, type ProcessRegistry, type ProcessReport } from '#libs/kernel/process-registry.js';

/** Registry of the single process and of the parts that report within it. */
export class EmbeddedProcessRegistry implements ProcessRegistry {
  private readonly latest = new Map<string, { readonly report: ProcessReport; readonly at: number }>();

  /** `now` is monotonic, in ms. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  async report(report: ProcessReport): Promise<void> {
    this.latest.set(report.id, { report, at: this.now() });
  }

  async live(): Promise<readonly ProcessReport[]> {
    this.expire();
    const silent = this.now() - SILENCE_MS;
    return [...this.latest.values()].flatMap(({ report, at }) => (at < silent ? [] : [report]));
  }

  async registered(): Promise<readonly string[]> {
    this.expire();
    return [...this.latest.keys()];
  }

  async leave(id: string): Promise<void> {
    this.latest.delete(id);
  }

  private expire(): void {
    const expired = this.now() - EXPIRY_MS;
    for (const [id, { at }] of this.latest) if (at < expired) this.latest.delete(id);
  }
}
