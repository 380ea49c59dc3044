import { messageOf } from '#libs/kernel/error-message.js';
import { isFatal, isNoSpace, type Database } from './sqlite-driver.js';
import { type Failure, type Op, type OpKind, type Ops, type WriteReply } from './ops.js';
import { type FileName } from './schema.js';

/** An operation that its own rule forbids. Thrown before it writes anything, so other operations are unaffected. */
export class Refused extends Error {
  constructor(readonly failure: Failure) {
    super(`refused: ${failure.rule}`);
  }
}

/** Operations of one file. After a rollback, `reset` drops what is cached of the file's content. */
export interface FileOperations {
  readonly handlers: { readonly [K in OpKind]?: (args: Ops[K]['args'], records: Buffer) => Ops[K]['result'] };
  /** Reads again what `reset` dropped. */
  beforeGroup?(): void;
  /** Writes what was deferred to the end of the group. */
  beforeCommit?(): void;
  reset(): void;
}

interface OpWithRecords<K extends OpKind = OpKind> extends Op<K> {
  readonly records: Buffer;
}

type Outcome = { readonly result: unknown } | { readonly failure: Failure };

/** Applies operations to one file in order. Operations that arrive together share one transaction. */
export class GroupCommit {
  constructor(
    private readonly file: FileName,
    private readonly db: Database,
    private readonly operations: FileOperations,
  ) {}

  apply(requests: readonly Op[], packed: Uint8Array): WriteReply {
    const ops = withRecords(requests, packed);
    let outcomes: Outcome[];
    try {
      outcomes = this.inOneTransaction(ops);
    } catch (error) {
      // Without space every operation would fail. Otherwise one of them is at fault and the others continue.
      const hopeless = isNoSpace(error) || isFatal(error) || ops.length === 1;
      outcomes = hopeless ? ops.map(() => failed(error)) : ops.map((op) => this.alone(op));
    }
    const results: unknown[] = [];
    const failures: [number, Failure][] = [];
    outcomes.forEach((outcome, index) => {
      if ('failure' in outcome) failures.push([index, outcome.failure]);
      results.push('failure' in outcome ? null : outcome.result);
    });
    return { file: this.file, results, failures };
  }

  private alone(op: OpWithRecords): Outcome {
    try {
      return this.inOneTransaction([op])[0] ?? failed(new Error('no outcome'));
    } catch (error) {
      return failed(error);
    }
  }

  private inOneTransaction(ops: readonly OpWithRecords[]): Outcome[] {
    this.db.exec('BEGIN IMMEDIATE');
    try {
      this.operations.beforeGroup?.();
      const outcomes = ops.map((op) => this.one(op));
      this.operations.beforeCommit?.();
      this.db.exec('COMMIT');
      return outcomes;
    } catch (error) {
      this.operations.reset();
      // SQLite rolls back automatically on some errors (disk full), and then there is nothing left to roll back.
      if (this.db.inTransaction()) this.db.exec('ROLLBACK');
      throw error;
    }
  }

  private one<K extends OpKind>(op: OpWithRecords<K>): Outcome {
    const handler = this.operations.handlers[op.kind];
    if (!handler) throw new Error(`no operation ${op.kind} in ${this.file}.db`);
    try {
      return { result: handler(op.args, op.records) };
    } catch (error) {
      if (error instanceof Refused) return { failure: error.failure };
      throw error;
    }
  }
}

const withRecords = (ops: readonly Op[], packed: Uint8Array): readonly OpWithRecords[] => {
  const all = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  let end = 0;
  return ops.map((op) => ({ ...op, records: all.subarray(end, (end += op.packed)) }));
};

const failed = (error: unknown): Outcome => ({
  failure: {
    rule: 'failed',
    message: messageOf(error),
    fatal: isFatal(error) && !isNoSpace(error),
    full: isNoSpace(error),
  },
});
