import { type WriterThreadData } from './ops.js';
import { type FileName } from './schema.js';

const WRITES = 0;
const ASKED = 1;
const SLOTS = 2;

/** Makes the data with which both threads of a data directory are started. */
export const threadData = (dataDir: string, files: readonly FileName[]): WriterThreadData => ({
  dataDir,
  files,
  signals: new SharedArrayBuffer(files.length * SLOTS * Int32Array.BYTES_PER_ELEMENT),
});

/** Signals between the writer thread and the checkpoint thread about the write-ahead log of each file. */
export class WalSignals {
  private readonly slots: Int32Array;

  constructor(private readonly data: Pick<WriterThreadData, 'files' | 'signals'>) {
    this.slots = new Int32Array(data.signals);
  }

  /** The writer has committed to this file. */
  written(file: FileName): void {
    Atomics.add(this.slots, this.slot(file, WRITES), 1);
  }

  /** A number that changes with each commit. */
  writes(file: FileName): number {
    return Atomics.load(this.slots, this.slot(file, WRITES));
  }

  /** Asks the writer to copy the last pages itself, between two commits. */
  askForRestart(file: FileName): void {
    Atomics.store(this.slots, this.slot(file, ASKED), 1);
  }

  /** Whether the writer was asked since the last call. */
  takeAsked(file: FileName): boolean {
    return Atomics.exchange(this.slots, this.slot(file, ASKED), 0) === 1;
  }

  private slot(file: FileName, which: number): number {
    return this.data.files.indexOf(file) * SLOTS + which;
  }
}
