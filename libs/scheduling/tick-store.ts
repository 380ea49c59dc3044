/** When each timer fired last, so that a restart owes at most one tick. Keys: `<source id>/<prop>`. */
export interface TickStore {
  /** Epoch milliseconds of the last tick given out. */
  load(): Promise<ReadonlyMap<string, number>>;
  /** Resolves when durable; a later time wins. */
  save(ticks: ReadonlyMap<string, number>): Promise<void>;
  /** Drops every timer of a source. Idempotent. */
  drop(sourceId: string): Promise<void>;
}
