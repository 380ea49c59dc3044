import { cpuUsSince, newHistogram, quantilesMs } from './latencies.js';
import { monotonicUs } from './monotonic.js';
import { servePart } from './part-process.js';
import { BODY_BYTES, type GeneratorApi, type LoadOptions, type LoadResult } from './parts.js';
import { UndiciConnection, type Connection } from './connection.js';
import { RawConnection } from './raw-connection.js';

/** Pause of a closed-loop connection after a 429, a 503 or a failure. */
const REST_MS = 100;
/** Time limit for answers still outstanding at the end of a run. */
const LAST_ANSWERS_MS = 30_000;

interface Way {
  readonly connection: Connection;
  readonly head: string;
  readonly path: string;
}

/** One measurement. Ids count up from 0, and every body is 1,024 bytes of JSON. */
class Run {
  private readonly ways: readonly Way[];
  private readonly answerTimes = newHistogram();
  private readonly unacknowledged: number[] = [];
  private readonly cpuStart = process.cpuUsage();
  private readonly startedAt = monotonicUs();
  private readonly from: number;
  private readonly to: number;
  private sent = 0;
  private acknowledged = 0;
  private refused = 0;
  private failed = 0;
  private out = 0;

  constructor(private readonly options: LoadOptions) {
    this.from = this.startedAt + options.warmUpMs * 1_000;
    this.to = this.from + options.durationMs * 1_000;
    const { urls } = options;
    this.ways = Array.from({ length: options.connections }, (_, n) => this.wayTo(urls[n % urls.length] ?? ''));
  }

  async measure(): Promise<LoadResult> {
    if (this.options.rate === undefined) this.ways.forEach((way) => this.sendAgain(way));
    else await this.sendAtRate(this.options.rate);
    await this.lastAnswers();
    this.ways.forEach(({ connection }) => connection.close());
    return {
      sent: this.sent,
      acknowledged: this.acknowledged,
      refused: this.refused,
      failed: this.failed,
      unacknowledged: this.unacknowledged,
      answerMs: quantilesMs(this.answerTimes),
      from: this.from,
      to: this.to,
      cpuUs: cpuUsSince(this.cpuStart),
    };
  }

  private wayTo(url: string): Way {
    const { hostname, port, pathname } = new URL(url);
    const head =
      `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
      `content-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`;
    const Kind = this.options.client === 'undici' ? UndiciConnection : RawConnection;
    return { connection: new Kind(hostname, Number(port)), head, path: pathname };
  }

  /** Closed loop. */
  private sendAgain(way: Way): void {
    const now = monotonicUs();
    if (now >= this.to) return;
    this.send(way, now, (status) => {
      if (status === 200) this.sendAgain(way);
      else setTimeout(() => this.sendAgain(way), REST_MS);
    });
  }

  /**
   * Open loop: event n is due at n / rate. Its time runs from then, even when it waits for a free connection. So a slow
   * server does not slow the schedule down.
   */
  private async sendAtRate(rate: number): Promise<void> {
    const total = Math.floor(((this.to - this.startedAt) / 1_000_000) * rate);
    const free = [...this.ways];
    let next = 0;
    const sendDue = (): void => {
      const due = Math.min(total, Math.floor(((monotonicUs() - this.startedAt) / 1_000_000) * rate) + 1);
      while (next < due) {
        const way = free.pop();
        if (!way) return;
        this.send(way, this.startedAt + (next++ / rate) * 1_000_000, () => {
          free.push(way);
          sendDue();
        });
      }
    };
    await new Promise<void>((resolve) => {
      const ticker = setInterval(() => {
        sendDue();
        const late = monotonicUs() > this.to + LAST_ANSWERS_MS * 1_000;
        if (next < total && !late) return;
        clearInterval(ticker);
        resolve();
      }, 1);
    });
  }

  private send({ connection, head, path }: Way, intended: number, then: (status: number) => void): void {
    const id = this.sent++;
    const third = this.thirdOf(intended);
    this.out++;
    connection.send({ head, path, body: this.body(id, third, intended) }, (status) => {
      this.out--;
      if (status === 200) this.acknowledged++;
      else this.unacknowledged.push(id);
      if (status === 429 || status === 503) this.refused++;
      else if (status !== 200) this.failed++;
      if (third > 0 && status === 200) this.answerTimes.recordValue(Math.max(1, Math.round(monotonicUs() - intended)));
      then(status);
    });
  }

  private thirdOf(intended: number): number {
    if (intended < this.from) return 0;
    return Math.min(3, 1 + Math.floor((3 * (intended - this.from)) / (this.to - this.from)));
  }

  private body(id: number, third: number, intended: number): string {
    const start = `{"run":${this.options.run},"id":${id},"w":${third},"t":${Math.round(intended)},"pad":"`;
    return start + 'x'.repeat(BODY_BYTES - start.length - 2) + '"}';
  }

  private async lastAnswers(): Promise<void> {
    const end = this.to + LAST_ANSWERS_MS * 1_000;
    await new Promise<void>((resolve) => {
      const ticker = setInterval(() => {
        if (monotonicUs() < this.to || (this.out > 0 && monotonicUs() < end)) return;
        clearInterval(ticker);
        resolve();
      }, 5);
    });
  }
}

const api: GeneratorApi = { load: (options) => new Run(options).measure() };
servePart({ ...api }, '');
