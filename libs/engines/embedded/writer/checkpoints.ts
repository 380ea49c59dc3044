import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { asError } from '#libs/kernel/error-message.js';
import { type FromCheckpoints, type WriterThreadData } from './ops.js';
import { type FileName } from './schema.js';
import { compiled, gone } from './writer.js';

/** A write-ahead log that stays larger than this is reported once, until it stays small again. */
const LARGE_BYTES = 64 << 20;
const SMALL_BYTES = 32 << 20;
const LOOK_MS = 5_000;
const LOOKS = 3;
/** A thread that has not answered for this time, while its log is large, stands still. */
const SILENT_MS = 10_000;

export interface CheckpointFigures {
  /** Bytes of the log's file. */
  readonly logBytes: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** A write-ahead log that grows, or that has become small again. */
export interface LargeLog {
  readonly file: FileName;
  readonly bytes: number;
  /** Undefined when the log is small again. */
  readonly cause: string | undefined;
}

interface Figures {
  rounds: number;
  seconds: number;
  remaining: number;
  heardAt: number;
  failure: string | undefined;
  isLarge: boolean;
  /** Number of consecutive looks at which the log's size indicated the other state. */
  looks: number;
}

export interface CheckpointOptions {
  /** Called once when the thread has ended. The process should end too. */
  readonly onFatal: (error: Error) => void;
  /** Called when a log becomes large, and when it is small again. */
  readonly onLargeLog: (log: LargeLog) => void;
  readonly entry?: URL;
  readonly lookMs?: number;
}

/** The main thread's end of the checkpoint thread. */
export class Checkpoints {
  private readonly figuresOf = new Map<FileName, Figures>();
  private readonly look: NodeJS.Timeout;
  private closing = false;

  private constructor(
    private readonly worker: Worker,
    private readonly data: WriterThreadData,
    private readonly options: CheckpointOptions,
  ) {
    for (const file of data.files) {
      const heardAt = performance.now();
      this.figuresOf.set(file, {
        rounds: 0,
        seconds: 0,
        remaining: 0,
        heardAt,
        failure: undefined,
        isLarge: false,
        looks: 0,
      });
    }
    this.look = setInterval(() => this.lookAtSizes(), options.lookMs ?? LOOK_MS).unref();
  }

  /** The files must exist. */
  static async start(data: WriterThreadData, options: CheckpointOptions): Promise<Checkpoints> {
    const worker = new Worker(options.entry ?? compiled('checkpoint-thread.js'), {
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
    });
    await once(worker, 'message');
    const checkpoints = new Checkpoints(worker, data, options);
    worker.on('message', (message: FromCheckpoints) => checkpoints.receive(message));
    worker.on('error', (error) => checkpoints.ended(gone(asError(error).message, error)));
    worker.on('exit', (code) => checkpoints.ended(gone(`the checkpoint thread ended with code ${code}`)));
    return checkpoints;
  }

  figures(file: FileName): CheckpointFigures {
    const { rounds = 0, seconds = 0 } = this.figuresOf.get(file) ?? {};
    return { logBytes: logBytes(this.data.dataDir, file), rounds, seconds };
  }

  /** Resolves once the thread has closed its files. Idempotent. */
  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    clearInterval(this.look);
    const exited = once(this.worker, 'exit');
    this.worker.postMessage('close');
    await exited;
  }

  private receive(message: FromCheckpoints): void {
    if (message.type === 'ready') return;
    const figures = this.figuresOf.get(message.file);
    if (!figures) return;
    figures.heardAt = performance.now();
    figures.failure = message.type === 'failed' ? message.message : undefined;
    if (message.type === 'failed') return;
    figures.rounds++;
    figures.seconds += message.ms / 1_000;
    figures.remaining = message.remaining;
  }

  private lookAtSizes(): void {
    for (const [file, figures] of this.figuresOf) {
      const bytes = logBytes(this.data.dataDir, file);
      const isLarge = bytes > (figures.isLarge ? SMALL_BYTES : LARGE_BYTES);
      figures.looks = isLarge === figures.isLarge ? 0 : figures.looks + 1;
      if (figures.looks < LOOKS) continue;
      figures.isLarge = isLarge;
      figures.looks = 0;
      this.options.onLargeLog({ file, bytes, cause: figures.isLarge ? causeOf(figures) : undefined });
    }
  }

  private ended(error: Error): void {
    clearInterval(this.look);
    if (this.closing) return;
    this.closing = true;
    this.options.onFatal(error);
  }
}

const causeOf = ({ failure, heardAt, remaining }: Figures): string => {
  const silentMs = performance.now() - heardAt;
  if (failure !== undefined) return `it cannot be copied into its file: ${failure}`;
  if (silentMs > SILENT_MS) return `its checkpoints have stood still for ${Math.round(silentMs / 1_000)} s`;
  return remaining > 0
    ? 'a reader, perhaps another program that has the file open, needs its oldest pages'
    : 'more is written than the disk copies';
};

/** Size of a write-ahead log's file, 0 when there is none. */
export const logBytes = (dataDir: string, file: FileName): number =>
  statSync(join(dataDir, `${file}.db-wal`), { throwIfNoEntry: false })?.size ?? 0;
