import { type LogLine } from '#libs/component-model/run-output.js';

/** Time in milliseconds that a line waits for further ones. */
const EVERY_MS = 500;
/** The log of a step holds as many, and tells in its last line of those that were dropped. */
const MOST_LINES = 990;
const MOST_BYTES = 200 * 1024;

/** Hands over lines of an execution that goes on. Resolves once there is room for more, and never rejects. */
export type OnLines = (from: number, lines: readonly LogLine[]) => Promise<void>;

/**
 * Collects the log lines of one execution, and hands them over twice a second at most. An execution that ends sooner hands
 * over none, because all lines come with its outcome.
 */
export class LineBatches {
  private waiting: LogLine[] = [];
  private from = 0;
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(private readonly onLines: OnLines) {}

  add(line: LogLine): void {
    this.bytes += Buffer.byteLength(line.msg);
    if (this.isOver || this.from + this.waiting.length >= MOST_LINES || this.bytes > MOST_BYTES) return;
    this.waiting.push(line);
    this.plan();
  }

  /** What was not handed over is dropped. */
  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private plan(): void {
    this.timer ??= setTimeout(() => void this.handOver(), EVERY_MS).unref();
  }

  private async handOver(): Promise<void> {
    const { from, waiting } = this;
    this.from += waiting.length;
    this.waiting = [];
    await this.onLines(from, waiting);
    this.timer = undefined;
    if (!this.isOver && this.waiting.length > 0) this.plan();
  }
}
