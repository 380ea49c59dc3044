/** A change of a source, in two parts, between which the change of a workflow is decided (docs/adr/0074). */
export interface SourceOperation<Result> {
  readonly sourceId: string;
  /** Writes the start, and runs the hooks. When it rejects, the caller has to call `undo`. */
  prepare(): Promise<void>;
  /** Writes the end, which puts the change in force. */
  finish(): Promise<Result>;
  /** Ends a change that `prepare` or `finish` failed to make. Logs its own failures, which the next start repairs. */
  undo(error: unknown): Promise<void>;
  /** Takes back what `prepare` did, with the hooks of the former state. */
  revert(error: unknown): Promise<void>;
}

/** Makes one change by itself. */
export const carriedOut = async <Result>(operation: SourceOperation<Result>): Promise<Result> => {
  try {
    await operation.prepare();
    return await operation.finish();
  } catch (error) {
    await operation.undo(error);
    throw error;
  }
};
