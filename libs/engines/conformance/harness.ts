/** Provides a conformance suite with its adapter, created for each test on separate storage. */
export interface Harness<P> {
  port: P;
  /** Ends the owner of the port, as a restart or a crash would, opens the same storage again and sets `port`. */
  reopen(): Promise<P>;
  /** Resolves when everything written is visible to all readers. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export type MakeHarness<P> = () => Promise<Harness<P>>;

/** The tests of one part of a suite. `port` returns the port of the running test. */
export type Part<P> = (port: () => P, harness: () => Harness<P>) => void;
