import { statfs } from 'node:fs/promises';
import { pause } from '#libs/async/pause.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Refusal } from '#libs/stream-log/refusal.js';

export interface DiskWatchOptions {
  readonly dir: string;
  /** Free bytes below which new work is refused. */
  readonly floorBytes: number;
  /** Called each time that the free space cannot be read. */
  readonly onFailure: (error: unknown) => void;
  /** Reads the free bytes of the file system of `dir`. */
  readonly freeBytes?: (dir: string) => Promise<number>;
  readonly everyMs?: number;
}

const MB = 1024 * 1024;
const EVERY_MS = 1_000;
const RETRY_AFTER_S = 10;

const freeBytesOf = async (dir: string): Promise<number> => {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
};

/** Checks the free space every second, so that new work is refused before the engine cannot write. */
export class DiskWatch {
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private free = Number.POSITIVE_INFINITY;
  private tell: (problem: string) => void = () => undefined;

  private constructor(private readonly options: DiskWatchOptions) {}

  /** Resolves after the first check. */
  static async start(options: DiskWatchOptions): Promise<DiskWatch> {
    const watch = new DiskWatch(options);
    await watch.look();
    watch.running = watch.run();
    return watch;
  }

  /**
   * Calls `tell` each time that the free space falls below the floor, and now if it is below. `tell` must not throw.
   */
  onFull(tell: (problem: string) => void): void {
    this.tell = tell;
    const problem = this.problem();
    if (problem !== undefined) tell(problem);
  }

  isFull(): boolean {
    return this.free < this.options.floorBytes;
  }

  /** Describes the problem. It omits the path, because anyone may read it. */
  problem(): string | undefined {
    if (!this.isFull()) return undefined;
    const { floorBytes } = this.options;
    return `disk full: ${Math.floor(this.free / MB)} MB are free for the data directory, below the floor of ${Math.round(floorBytes / MB)} MB`;
  }

  /** Returns the refusal for work that adds data; undefined when there is room. */
  refusal(): Refusal | undefined {
    const problem = this.problem();
    if (problem === undefined) return undefined;
    const text = `${problem}: nothing is taken until there is room; what was accepted is kept`;
    return { status: 503, code: 'storage_full', retryAfterS: RETRY_AFTER_S, text };
  }

  error(): DomainError | undefined {
    const refused = this.refusal();
    return refused && new DomainError('platform.storage_full', refused.text);
  }

  async close(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.abort;
    for (;;) {
      await pause(this.options.everyMs ?? EVERY_MS, signal, { ref: false });
      if (signal.aborted) return;
      await this.look();
    }
  }

  private async look(): Promise<void> {
    const { dir, freeBytes = freeBytesOf, onFailure } = this.options;
    const wasFull = this.isFull();
    try {
      this.free = await freeBytes(dir);
      const problem = this.problem();
      if (problem !== undefined && !wasFull) this.tell(problem);
    } catch (error) {
      onFailure(error);
    }
  }
}
