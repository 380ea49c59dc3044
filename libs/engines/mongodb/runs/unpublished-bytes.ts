import { shareOfHeap } from '#libs/kernel/heap-share.js';

/**
 * Bytes of the emits that this process has committed and not yet published, over all sources. Commits wait above the
 * limit, so that memory stays bounded while the log cannot write. Waiting commits count as memory of runs.
 */
export class UnpublishedBytes {
  private bytes = 0;
  private wakers: (() => void)[] = [];

  constructor(
    private readonly limit: number = shareOfHeap(),
    private readonly closing: AbortSignal,
  ) {
    closing.addEventListener('abort', () => this.wake());
  }

  add(bytes: number): void {
    this.bytes += bytes;
  }

  remove(bytes: number): void {
    this.bytes -= bytes;
    if (this.bytes <= this.limit) this.wake();
  }

  /** Resolves when the bytes are within the limit. Rejects when the journal closes before. */
  async room(): Promise<void> {
    while (this.bytes > this.limit) {
      if (this.closing.aborted) throw new Error('the run journal is closed, and emits wait to be published');
      await new Promise<void>((resolve) => this.wakers.push(resolve));
    }
  }

  private wake(): void {
    for (const waker of this.wakers.splice(0)) waker();
  }
}
