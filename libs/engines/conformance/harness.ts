/** How a conformance suite gets at an adapter. Made anew for each test, on storage of its own. */
export interface Harness<P> {
  port: P;
  /** Ends what holds the port (as a restart or a crash would) and opens the same storage again; sets `port`. */
  reopen(): Promise<P>;
  /** Resolves when what was written is visible to every reader. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export type MakeHarness<P> = () => Promise<Harness<P>>;

/** The tests of one part of a suite. `port` is the one of the running test. */
export type Part<P> = (port: () => P, harness: () => Harness<P>) => void;
