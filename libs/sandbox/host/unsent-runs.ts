import { type RunOutcome, type RunRequest } from '../sandbox.js';

export interface UnsentRun {
  readonly request: RunRequest;
  readonly resolve: (outcome: RunOutcome) => void;
  readonly reject: (reason: Error) => void;
}

/** Queue of runs that have not been sent to the process, in order of arrival. */
export class UnsentRuns {
  private runs: UnsentRun[] = [];
  private head = 0;

  get size(): number {
    return this.runs.length - this.head;
  }

  push(run: UnsentRun): void {
    this.runs.push(run);
  }

  shift(): UnsentRun | undefined {
    const first = this.runs[this.head];
    if (!first) return undefined;
    if (++this.head === this.runs.length) this.clear();
    return first;
  }

  /** Removes and returns all runs, in order. */
  clear(): UnsentRun[] {
    const rest = this.runs.slice(this.head);
    this.runs = [];
    this.head = 0;
    return rest;
  }
}
