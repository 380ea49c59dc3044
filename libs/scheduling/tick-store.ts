/** Stores the last tick of each timer, so that a restart owes at most one. Keys: `<source id>/<prop>`. */
export interface TickStore {
  /** Loads the epoch milliseconds of each timer's last tick. */
  load(): Promise<ReadonlyMap<string, number>>;
  /** Resolves when durable. A later time wins. */
  save(ticks: ReadonlyMap<string, number>): Promise<void>;
  /** Drops every timer of a source. Idempotent. */
  drop(sourceId: string): Promise<void>;
}
