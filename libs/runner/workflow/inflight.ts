import { type HostDeaths } from '../host-deaths.js';

/**
 * The executions of a workflow's runs that go on in this process, by run and number. Each is noted from its begin until its
 * outcome is durable, so that one which ends its server again and again can be given up
 * (docs/reference/limits.md#host-deaths). A crash repeats an execution under the same number.
 */
export class Inflight {
  private readonly running = new Map<string, Map<number, AbortController>>();
  private readonly noted = new Map<string, Set<number>>();

  constructor(private readonly hostDeaths: HostDeaths) {}

  get isIdle(): boolean {
    return this.running.size === 0;
  }

  /** Returns what ends the execution. Undefined when it goes on already. One that begins again is no longer noted. */
  begin(run: string, number: number): AbortController | undefined {
    const ofRun = this.running.get(run) ?? new Map<number, AbortController>();
    if (ofRun.has(number)) return undefined;
    this.release(run, number);
    const ending = new AbortController();
    this.running.set(run, ofRun.set(number, ending));
    return ending;
  }

  /** @param ending of the execution that ended, which may have begun again since */
  end(run: string, number: number, ending?: AbortController): void {
    const ofRun = this.running.get(run);
    if (!ofRun || (ending && ofRun.get(number) !== ending)) return;
    ofRun.delete(number);
    if (ofRun.size === 0) this.running.delete(run);
  }

  /** Ends the code of a run. */
  abort(run: string): void {
    for (const ending of this.running.get(run)?.values() ?? []) ending.abort();
  }

  /**
   * Notes that an execution is about to begin. A suspect of killing the server executes alone, and others wait for its end.
   * Resolves to the number of deaths of the server when the execution is not tried again.
   *
   * @param hasLeft whether the execution was ended while it waited for its turn
   */
  async note(run: string, number: number, hasLeft: () => boolean): Promise<number | undefined> {
    const { hostDeaths } = this;
    const id = noteId(run, number);
    if (hostDeaths.isSuspect(id)) {
      const deaths = hostDeaths.deathsOf(id);
      const verdict = await hostDeaths.alone(id);
      this.noteOf(run).add(number);
      if (hasLeft()) this.release(run, number);
      return verdict === 'run' ? undefined : deaths;
    }
    for (let blocked = hostDeaths.blocked(); blocked; blocked = hostDeaths.blocked()) await blocked;
    if (hasLeft()) return undefined;
    hostDeaths.begin([id]);
    this.noteOf(run).add(number);
    return undefined;
  }

  release(run: string, number: number): void {
    const ofRun = this.noted.get(run);
    if (!ofRun?.delete(number)) return;
    if (ofRun.size === 0) this.noted.delete(run);
    this.hostDeaths.end(noteId(run, number));
  }

  /** Releases the executions of a run but these. */
  releaseOthers(run: string, numbers: readonly number[]): void {
    for (const number of [...(this.noted.get(run) ?? [])]) if (!numbers.includes(number)) this.release(run, number);
  }

  releaseAll(): void {
    for (const run of [...this.noted.keys()]) this.releaseOthers(run, []);
  }

  private noteOf(run: string): Set<number> {
    const ofRun = this.noted.get(run) ?? new Set<number>();
    this.noted.set(run, ofRun);
    return ofRun;
  }
}

const noteId = (run: string, number: number): string => `${run}/${number}`;
