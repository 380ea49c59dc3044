/** Facts of one run of an action, from which the process makes `$.context`. */
export interface ActionFacts {
  readonly runId: string;
  readonly workspaceId: string;
  /** ISO 8601. */
  readonly ts: string;
  readonly timeoutMs: number;
}

/** What an action leaves, as JSON. Both come from its author. */
export interface ActionAnswer {
  readonly exports: Readonly<Record<string, unknown>>;
  /** Absent when `run` returned nothing. */
  readonly ret?: unknown;
}
