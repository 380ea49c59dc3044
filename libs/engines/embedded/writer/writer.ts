import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import {
  FILE_OF,
  type Failure,
  type FromWriter,
  type Op,
  type OpKind,
  type Ops,
  type ToWriter,
  type WriteReply,
  type WriterThreadData,
} from './ops.js';
import { refusal } from './refusal.js';
import { type FileName } from './schema.js';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { asError } from '#libs/kernel/error-message.js';

/** Limits of one transaction: operations, and approximate bytes. */
export const MAX_GROUP_OPS = 256;
export const MAX_GROUP_BYTES = 1 << 20;
/** Requests of a file in flight: one being committed and one waiting, so that the writer never idles. */
const MAX_IN_FLIGHT = 2;
/** The waiting request needs this many operations. Otherwise more of them share the next commit and its fsync. */
const MIN_WAITING_OPS = 64;

/** Bytes of memory for a group's records: the least that is allocated, and the most that is kept for reuse. */
const LEAST_KEPT = 256 << 10;
const MAX_KEPT = 2 * MAX_GROUP_BYTES;

export const gone = (reason: string, cause?: unknown): Error =>
  new EngineUnavailable('the data directory', reason, { cause });
const closed = (): Error => new EngineUnavailable('the data directory', 'the data directory is closed');

/** Called once, in the order of the writes. The error is the reason when nothing was written. */
export type OnWritten<K extends OpKind> = (error: Error | undefined, result: Ops[K]['result'] | undefined) => void;

/**
 * Records of an operation (stream-log/packed-records.ts). They are packed when the operation is posted to the writer
 * thread.
 */
export interface Packable {
  readonly packedBytes: number;
  packInto(target: Buffer, start: number): void;
}

interface Pending {
  readonly op: Op;
  readonly records: Packable | undefined;
  readonly bytes: number;
  readonly written: (error: Error | undefined, result: unknown) => void;
}

interface Queue {
  pending: Pending[];
  inFlight: Pending[][];
  /** Whether a pending operation has waited for its whole linger time. */
  isDue: boolean;
  lingering: { readonly until: number; readonly timer: NodeJS.Timeout } | undefined;
}

/** Whether a group may be posted now. A due group is posted at the latest when the previous one is answered. */
const mayPost = ({ inFlight, pending, isDue }: Queue): boolean =>
  isDue && (inFlight.length === 0 || (inFlight.length < MAX_IN_FLIGHT && pending.length >= MIN_WAITING_OPS));

export interface SendOptions {
  /** Approximate size of the arguments and of `records`. */
  readonly bytes?: number;
  readonly records?: Packable;
  /**
   * How long the operation may wait to be written together with a later operation on its file. At 100 events/s a separate
   * write takes the writer thread 0.3 ms, and wakes both threads (docs/adr/0049).
   */
  readonly lingerMs?: number;
}

export interface WriterStats {
  readonly queuedOps: number;
  readonly queuedBytes: number;
  /** The part of `queuedBytes` that was posted to the writer thread. */
  readonly postedBytes: number;
  readonly commits: number;
  readonly committedOps: number;
}

/**
 * The main thread's end of the writer thread. Operations of one file become durable in call order. Operations that
 * arrive during a commit share the next one. At most MAX_IN_FLIGHT groups of a file are in flight. The others wait
 * here, and their callers await the answers.
 */
export class Writer {
  private readonly queues = new Map<FileName, Queue>();
  /** Memory that the writer returned, for the next groups. Allocating it anew each time took 80 MB more under load. */
  private readonly memory: ArrayBuffer[] = [];
  private scheduled = false;
  private queuedOps = 0;
  private queuedBytes = 0;
  private postedBytes = 0;
  private commits = 0;
  private committedOps = 0;
  private dead: Error | undefined;
  private closing = false;
  private idle: (() => void) | undefined;

  private constructor(
    private readonly worker: Worker,
    files: readonly FileName[],
    private readonly onFatal: (error: Error) => void,
  ) {
    for (const file of files) this.queues.set(file, { pending: [], inFlight: [], isDue: false, lingering: undefined });
  }

  /** Rejects with UnusableDataDirectory when a file cannot be opened or has another schema. */
  static async start(
    data: WriterThreadData,
    onFatal: (error: Error) => void,
    entry = compiled('writer-thread.js'),
  ): Promise<Writer> {
    // A --max-semi-space-size of the process overrides a thread's limit, and 32 MB of it cost the writer 60 MB under
    // load. 0 means that none is set. The heap of the thread exists by then and keeps its size.
    setFlagsFromString('--max-semi-space-size=0');
    const worker = new Worker(entry, {
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    const [first] = (await once(worker, 'message')) as [FromWriter];
    if (first.type !== 'ready') {
      await worker.terminate();
      if (first.type === 'refused') throw new UnusableDataDirectory(first.message);
      throw new Error(`the writer thread answered ${first.type}`);
    }
    const writer = new Writer(worker, data.files, onFatal);
    worker.on('message', (message: FromWriter) => writer.receive(message));
    worker.on('error', (error) => writer.die(gone(asError(error).message, error)));
    worker.on('exit', (code) => writer.die(gone(`the writer thread ended with code ${code}`)));
    return writer;
  }

  /** `written` is called synchronously in the order of the writes, which is that of the calls. */
  send<K extends OpKind>(kind: K, args: Ops[K]['args'], written: OnWritten<K>, options: SendOptions = {}): void {
    const { bytes = 256, records, lingerMs = 0 } = options;
    const queue = this.queues.get(FILE_OF[kind]);
    if (this.dead || this.closing || !queue) {
      written(this.dead ?? closed(), undefined);
      return;
    }
    queue.pending.push({
      op: { kind, args, packed: records?.packedBytes ?? 0 },
      records,
      bytes,
      written: (error, result) => written(error, error ? undefined : (result as Ops[K]['result'])),
    });
    this.queuedOps++;
    this.queuedBytes += bytes;
    if (lingerMs === 0) this.due(queue);
    else if (!queue.isDue) this.linger(queue, lingerMs);
  }

  /** Like `send`, for callers that do not depend on the order of answers. */
  submit<K extends OpKind>(kind: K, args: Ops[K]['args'], options?: SendOptions): Promise<Ops[K]['result']> {
    return new Promise((resolve, reject) => {
      const written: OnWritten<K> = (error, result) => {
        if (error) reject(error);
        else resolve(result as Ops[K]['result']);
      };
      this.send(kind, args, written, options);
    });
  }

  stats(): WriterStats {
    const { queuedOps, queuedBytes, postedBytes, commits, committedOps } = this;
    return { queuedOps, queuedBytes, postedBytes, commits, committedOps };
  }

  /**
   * Refuses new operations and writes the waiting ones. Then calls `drained`, which closes the readers because they
   * would delay the checkpoint. Last, empties the write-ahead logs and closes the files.
   */
  async close(drained: () => Promise<void> | void = () => undefined): Promise<void> {
    const first = !this.closing;
    this.closing = true;
    for (const queue of this.queues.values()) if (queue.pending.length > 0) this.due(queue);
    if (!this.dead && this.queuedOps > 0) await new Promise<void>((resolve) => (this.idle = resolve));
    if (!first) return;
    await drained();
    if (this.dead) return;
    const exited = once(this.worker, 'exit');
    this.worker.postMessage({ type: 'close' } satisfies ToWriter);
    await exited;
  }

  private linger(queue: Queue, ms: number): void {
    const until = performance.now() + ms;
    if (queue.lingering && queue.lingering.until <= until) return;
    clearTimeout(queue.lingering?.timer);
    queue.lingering = { until, timer: setTimeout(() => this.due(queue), ms) };
  }

  /** Posts the pending operations at the end of this turn of the event loop. */
  private due(queue: Queue): void {
    clearTimeout(queue.lingering?.timer);
    queue.lingering = undefined;
    queue.isDue = true;
    if (this.scheduled || !mayPost(queue)) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      for (const [file, each] of this.queues) this.post(file, each);
    });
  }

  private post(file: FileName, queue: Queue): void {
    while (queue.pending.length > 0 && mayPost(queue)) {
      let bytes = 0;
      let count = 0;
      for (const { bytes: more } of queue.pending) {
        if (count >= MAX_GROUP_OPS || (count > 0 && bytes + more > MAX_GROUP_BYTES)) break;
        bytes += more;
        count++;
      }
      const group = queue.pending.splice(0, count);
      queue.inFlight.push(group);
      this.postedBytes += bytes;
      const packed = this.packedOf(group);
      const message: ToWriter = { type: 'write', file, ops: group.map(({ op }) => op), packed };
      this.worker.postMessage(message, [packed.buffer]);
    }
    if (queue.pending.length === 0) queue.isDue = false;
  }

  /** Packs all records of a group into memory that moves to the writer without a copy. */
  private packedOf(group: readonly Pending[]): Uint8Array<ArrayBuffer> {
    const size = group.reduce((sum, { op }) => sum + op.packed, 0);
    let memory = size === 0 ? new ArrayBuffer(0) : this.memory.pop();
    if (!memory || memory.byteLength < size) memory = new ArrayBuffer(Math.max(LEAST_KEPT, size));
    const target = Buffer.from(memory);
    let end = 0;
    for (const { op, records } of group) {
      records?.packInto(target, end);
      end += op.packed;
    }
    return new Uint8Array(memory, 0, size);
  }

  private receive(message: FromWriter): void {
    if (message.type !== 'reply') return;
    const { byteLength } = message.memory;
    if (byteLength > 0 && byteLength <= MAX_KEPT) this.memory.push(message.memory);
    this.answered(message);
  }

  private answered({ file, results, failures }: WriteReply): void {
    const queue = this.queues.get(file);
    const group = queue?.inFlight.shift();
    if (!queue || !group) throw new Error(`the writer answered for ${file}.db, which has no request in flight`);
    for (const { bytes } of group) this.postedBytes -= bytes;
    this.post(file, queue);
    this.commits++;
    this.committedOps += group.length;
    this.queuedOps -= group.length;
    for (const { bytes } of group) this.queuedBytes -= bytes;
    const failed = new Map<number, Failure>(failures);
    group.forEach(({ written }, index) => {
      const failure = failed.get(index);
      written(failure && refusal(failure), results[index]);
    });
    const fatal = failures.find(([, failure]) => failure.rule === 'failed' && failure.fatal);
    if (fatal) this.onFatal(refusal(fatal[1]));
    if (this.queuedOps === 0) this.idle?.();
  }

  private die(error: Error): void {
    if (this.dead) return;
    this.dead = this.closing ? closed() : error;
    for (const queue of this.queues.values()) {
      const lost = [...queue.inFlight.flat(), ...queue.pending];
      queue.inFlight = [];
      queue.pending = [];
      clearTimeout(queue.lingering?.timer);
      for (const { written } of lost) written(error, undefined);
    }
    this.idle?.();
    if (!this.closing) this.onFatal(error);
  }
}

/** URL of the compiled file next to this one, also when this one runs as TypeScript source (jest). */
export const compiled = (file: string): URL => {
  const here = import.meta.url;
  return here.endsWith('.ts')
    ? new URL(`../../../../dist/libs/engines/embedded/writer/${file}`, here)
    : new URL(file, here);
};
