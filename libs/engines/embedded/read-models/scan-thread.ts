import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { asError } from '#libs/kernel/error-message.js';
import { type CollectionSchema, type Doc, type Scanned, type ScanQuery } from '#libs/kernel/read-model-store.js';
import { compiled } from '../writer/writer.js';

export interface ScanRequest {
  readonly schema: CollectionSchema;
  /** Quoted name. */
  readonly table: string;
  readonly query: ScanQuery;
}

export type ToScans = { readonly id: number; readonly request: ScanRequest } | 'close';
export type FromScans =
  | { readonly id: number; readonly found: Scanned<Doc> }
  | { readonly id: number; readonly error: string; readonly isGone: boolean };

/** The table of a scan was dropped. */
class TableGone extends Error {}

export const isGone = (error: unknown): boolean => error instanceof TableGone;

interface Asked {
  readonly resolve: (found: Scanned<Doc>) => void;
  readonly reject: (error: Error) => void;
}

/** The main thread's end of the thread that searches. It starts with the first search. */
export class ScanThread {
  private worker: Worker | undefined;
  private readonly asked = new Map<number, Asked>();
  private last = 0;
  private isClosed = false;

  /** @param path a database that exists by the first scan. */
  constructor(private readonly path: string) {}

  /** Rejects with TableGone, with EngineUnavailable when the thread ended, and with what SQLite reports. */
  scan<D extends Doc>(request: ScanRequest): Promise<Scanned<D>> {
    if (this.isClosed) return Promise.reject(unavailable('the data directory is closed'));
    const worker = (this.worker ??= this.started());
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      // The documents are those that the projection of the schema put there.
      this.asked.set(id, { resolve: resolve as Asked['resolve'], reject });
      worker.postMessage({ id, request } satisfies ToScans);
    });
  }

  /** Resolves once the thread has closed its file. Idempotent. */
  async close(): Promise<void> {
    this.isClosed = true;
    const { worker } = this;
    if (!worker) return;
    const exited = once(worker, 'exit');
    worker.postMessage('close' satisfies ToScans);
    await exited;
  }

  private started(): Worker {
    const worker = new Worker(compiled('../read-models/scan-worker.js'), {
      workerData: { path: this.path },
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    worker.on('message', (message: FromScans) => this.receive(message));
    worker.on('error', (error) => this.ended(worker, asError(error).message));
    worker.on('exit', (code) => this.ended(worker, `the thread of searches ended with code ${code}`));
    return worker;
  }

  private receive(message: FromScans): void {
    const asked = this.asked.get(message.id);
    this.asked.delete(message.id);
    if ('found' in message) asked?.resolve(message.found);
    else asked?.reject(message.isGone ? new TableGone(message.error) : new Error(message.error));
  }

  /** The next search starts another one. */
  private ended(worker: Worker, reason: string): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    for (const { reject } of this.asked.values()) reject(unavailable(reason));
    this.asked.clear();
  }
}

const unavailable = (reason: string): EngineUnavailable => new EngineUnavailable('the data directory', reason);
