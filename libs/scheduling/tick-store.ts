/** Stores the last tick of each timer, so that a restart owes at most one. The keys are `<source id>/<prop>`. */
export interface TickStore {
  /** Loads the epoch milliseconds of each timer's last tick. */
  load(): Promise<ReadonlyMap<string, number>>;
  /** Resolves when durable. A later time wins. */
  save(ticks: ReadonlyMap<string, number>): Promise<void>;
  /** Deletes the ticks of a source's timers. Idempotent. */
  drop(sourceId: string): Promise<void>;
}
