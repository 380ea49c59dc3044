import { textOf, ProtocolBreach } from '#libs/framing/records.js';
import { type LateKind, NO_RUN, ToldOnce } from '../protocol/late-work.js';
import { type LogLine, WARNING } from '#libs/component-model/run-output.js';
import { type RunCollector } from './run-collector.js';

/** Runs whose names are kept after their end. */
const KEPT = 1_024;

/** Reads a child's reports of work that outlived its run, and words them for `$logs`. */
export class LateReports {
  private readonly told = new ToldOnce();
  private readonly numbers = new Float64Array(KEPT);
  private readonly names: string[] = [];
  private latest = 0;

  /** Notes that a run has ended, so that it may be reported on. */
  ended(run: RunCollector): void {
    const at = run.n % KEPT;
    // A long run ends after later ones, whose names are kept.
    if ((this.numbers[at] ?? 0) > run.n) return;
    this.numbers[at] = run.n;
    this.names[at] = run.beside ? `the ${run.invocationId}` : `run ${run.invocationId}`;
    if (run.n > this.latest) this.latest = run.n;
  }

  /** Line for `$logs`. Throws ProtocolBreach for a report on a run that has not ended, and for a second one of a kind. */
  read(n: number, kind: LateKind, ts: number, raw: Buffer): LogLine {
    const run = this.nameOf(n);
    if (!this.told.isFirst(n, kind)) throw new ProtocolBreach(`a second report of kind "${kind}" on one run`);
    return { k: WARNING, ts, msg: lateText(kind, run, textOf(raw)) };
  }

  /** Undefined for work outside of any run. */
  private nameOf(n: number): string | undefined {
    if (n === NO_RUN) return undefined;
    const at = n % KEPT;
    if (this.numbers[at] === n) return this.names[at];
    if (n <= this.latest - KEPT) return 'a run long ago';
    throw new ProtocolBreach(`a report on run ${n}, which has not ended`);
  }
}

const AWAIT = 'A promise without "await", a timer or an async callback of forEach outlived it: await all work in run.';

/** @param run undefined for work outside of any run */
const lateText = (kind: LateKind, run: string | undefined, detail: string): string => {
  const after = run === undefined ? 'outside of any run' : `after ${run} had ended`;
  const advice = run === undefined ? 'Code of the module did it, not run or a hook: catch its errors there.' : AWAIT;
  switch (kind) {
    case 'emit':
      return `$emit was called ${after}, so its event is lost: ${detail}. ${advice}`;
    case 'log':
      return `a line was logged ${after}, so it and later lines are dropped: ${detail}. ${advice}`;
    case 'respond':
      return `respond was called ${after}, so its reply is lost. ${advice}`;
    case 'db':
      return `db.set was called ${after}, so its change is not stored: ${detail}. ${advice}`;
    case 'store':
      return `a data store was used ${after}, so the call did nothing: ${detail}. ${advice}`;
    case 'error':
      return `an error was not caught ${after}: ${detail}. ${advice}`;
    case 'exit':
      return `process.exit was called ${after}, which ended the process and all its runs. ${advice}`;
  }
};
